"""What a run would ask and cost, told without asking."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_llmeval.catalog import Catalog, LoadedTask
from pytest_llmeval.cypher.scene_text import read_scene_text
from pytest_llmeval.engine.choice import ModelChoice
from pytest_llmeval.engine.gateway import CHARACTERS_PER_TOKEN, TOKENS_PER_IMAGE
from pytest_llmeval.engine.plan import Plan
from pytest_llmeval.engine.specs import ModelSpec
from pytest_llmeval.errors import TaskError
from pytest_llmeval.judge.prompt import judge_messages
from pytest_llmeval.plugin.spending import Spending
from pytest_llmeval.prompts import render
from pytest_llmeval.records import Json, Sample, Usage
from pytest_llmeval.report.numbers import count, money
from pytest_llmeval.settings import Settings
from pytest_llmeval.task import Task

CEILINGS = ("max_completion_tokens", "max_output_tokens", "max_tokens")
"""The parameters that limit a reply's tokens."""

UNKNOWN = {"query": "", "rows": "", "turns": ""}
"""What later stages are filled with: what earlier ones will bring is not known."""


@dataclass(slots=True)
class Estimate:
    """The requests of one task to one model: how many, their input tokens, and the most that replies may have.

    `output_tokens` is None where nothing limits the replies.
    """

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int | None = 0

    def add(self, *, input_tokens: int, ceiling: int | None) -> None:
        """Count one request."""
        self.requests += 1
        self.input_tokens += input_tokens
        self.output_tokens = None if ceiling is None or self.output_tokens is None else self.output_tokens + ceiling


def estimate_lines(plan: Plan, settings: Settings, catalog: Catalog) -> list[str]:
    """Return a line for each task and model of the selected tests: requests, input tokens and, with prices, dollars.

    Each stage counts once for each sample and epoch, each vote of a judge too; repairs, further turns, retries, and
    what earlier stages bring into later ones, are not known beforehand.
    """
    estimates: defaultdict[tuple[str, ModelSpec], Estimate] = defaultdict(Estimate)
    choice = ModelChoice(settings, catalog)
    for test in plan.tests:
        loaded = catalog.load(Path(test.file))
        sample, solver = loaded.by_id[test.sample], choice.solver(test)
        for tokens in _prompt_tokens(loaded, sample):
            estimates[test.task, solver].add(input_tokens=tokens, ceiling=_ceiling(loaded, solver))
        if loaded.task.is_judged:
            characters = sum(len(message.text) for message in judge_messages(sample.input, sample.target, ""))
            for judge in choice.judges(test) * loaded.task.judge.votes:
                estimates[test.task, judge].add(input_tokens=characters // CHARACTERS_PER_TOKEN, ceiling=None)
    spending = Spending(settings)
    return [_line(task, model, estimate, spending) for (task, model), estimate in estimates.items()]


def _prompt_tokens(loaded: LoadedTask, sample: Sample) -> Iterator[int]:
    """Yield each stage's input tokens, reckoned as the engine does before it sends."""
    for stage, turns in loaded.task.prompt.items():
        try:
            variables = {**UNKNOWN, **_scene_variables(loaded.task)}
            texts: Sequence[str] = [message.text for message in render(loaded.task, stage, sample, (), variables)]
        except TaskError:
            # A solver of one's own fills its later stages with what only it knows.
            texts = [turn.text for turn in turns]
        yield sum(map(len, texts)) // CHARACTERS_PER_TOKEN + len(sample.images) * TOKENS_PER_IMAGE


def _scene_variables(task: Task) -> dict[str, Json]:
    """Return the whole scene as text for a task that sends it: most of its tokens."""
    if task.solver.name != "in_context" or task.graph is None:
        return {}
    form = "full" if task.solver.options.get("form") == "full" else "short"
    return {"graph": read_scene_text(task.graph.scene, form)}


def _ceiling(loaded: LoadedTask, model: ModelSpec) -> int | None:
    parameters = model.requested(loaded.task.generate, epoch=1, draw=0)
    limits = (parameters.get(name) for name in CEILINGS)
    return next((limit for limit in limits if isinstance(limit, int)), None)


def _line(task: str, model: ModelSpec, estimate: Estimate, spending: Spending) -> str:
    if model.recorded:
        return f"{task} · {model.label}: recorded replies, nothing is asked"
    line = (
        f"{task} · {model.label}: {count(estimate.requests)} requests, "
        f"about {count(estimate.input_tokens)} input tokens"
    )
    usage = Usage(input_tokens=estimate.input_tokens, output_tokens=estimate.output_tokens or 0)
    cost = spending.budget(model).cost_of(usage, model.bare.label)
    if cost is None:
        return line
    if estimate.output_tokens is None:
        return f"{line}, {money(cost)} and the output, which nothing limits"
    return f"{line}, at most about {money(cost)} with {count(estimate.output_tokens)} output tokens"

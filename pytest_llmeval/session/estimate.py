"""What a run would ask and cost, told without asking."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar, cast

from pytest_llmeval.domains.heracles.scene_text import read_scene_text
from pytest_llmeval.engine.choice import ModelChoice
from pytest_llmeval.engine.expectation import CHARACTERS_PER_TOKEN, TOKENS_PER_IMAGE, ceiling_of
from pytest_llmeval.engine.plan import Plan
from pytest_llmeval.engine.specs import ModelSpec
from pytest_llmeval.errors import TaskError
from pytest_llmeval.records import Json, Sample, Usage
from pytest_llmeval.report.numbers import count, money
from pytest_llmeval.scoring.judge.prompt import JUDGE_PARAMETERS, judge_messages
from pytest_llmeval.session.settings import Settings
from pytest_llmeval.session.spending import Spending
from pytest_llmeval.task import Task
from pytest_llmeval.task.catalog import Catalog, LoadedTask
from pytest_llmeval.task.rendering import render

N = TypeVar("N", int, float)

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
        self.output_tokens = _sum((self.output_tokens, ceiling))

    @classmethod
    def together(cls, parts: Sequence[Estimate]) -> Estimate:
        """Return the sums."""
        return cls(
            requests=sum(part.requests for part in parts),
            input_tokens=sum(part.input_tokens for part in parts),
            output_tokens=_sum(part.output_tokens for part in parts),
        )


def estimate_lines(plan: Plan, settings: Settings, catalog: Catalog) -> list[str]:
    """Return a line for each task and model of the selected tests: requests, input tokens and, with prices, dollars.

    Where several are asked, another line has the sums, without dollars if one of them has no price.

    Each stage counts once for each sample and epoch, each vote of a judge too; repairs, further
    turns, retries, and what earlier stages bring into later ones, are not known beforehand.
    """
    estimates: defaultdict[tuple[str, ModelSpec], Estimate] = defaultdict(Estimate)
    choice = ModelChoice(settings, catalog)
    # Each model and epoch asks a sample the same.
    prompts: dict[tuple[str, str], list[int]] = {}
    for test in plan.tests:
        loaded = catalog.load(Path(test.file))
        sample, solver = loaded.by_id[test.sample], choice.solver(test)
        if (place := (test.file, test.sample)) not in prompts:
            prompts[place] = list(_prompt_tokens(loaded, sample))
        for tokens in prompts[place]:
            estimates[test.task, solver].add(
                input_tokens=tokens, ceiling=_ceiling(solver, loaded.task.generate)
            )
        if loaded.task.is_judged:
            characters = sum(
                len(message.text) for message in judge_messages(sample.input, sample.target, "")
            )
            for judge in choice.judges(test) * loaded.task.judge.votes:
                tokens, ceiling = (
                    characters // CHARACTERS_PER_TOKEN,
                    _ceiling(judge, JUDGE_PARAMETERS),
                )
                estimates[test.task, judge].add(input_tokens=tokens, ceiling=ceiling)
    spending = Spending(settings)
    asked = {key: estimate for key, estimate in estimates.items() if not key[1].recorded}
    costs = {key: _cost(key[1], estimate, spending) for key, estimate in asked.items()}
    lines = [
        f"{task} · {model.label}: "
        + (
            "recorded replies, nothing is asked"
            if model.recorded
            else _figures(estimate, costs[task, model])
        )
        for (task, model), estimate in estimates.items()
    ]
    if len(asked) > 1:
        lines.append(
            f"all: {_figures(Estimate.together(list(asked.values())), _sum(costs.values()))}"
        )
    return lines


def _prompt_tokens(loaded: LoadedTask, sample: Sample) -> Iterator[int]:
    """Yield each stage's input tokens, reckoned as the engine does before it sends."""
    for stage, turns in loaded.task.prompt.items():
        try:
            variables = {**UNKNOWN, **_scene_variables(loaded.task)}
            texts: Sequence[str] = [
                message.text for message in render(loaded.task, stage, sample, (), variables)
            ]
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


def _ceiling(model: ModelSpec, parameters: Mapping[str, Json]) -> int | None:
    return ceiling_of(model.requested(parameters, epoch=1, draw=0))


def _cost(model: ModelSpec, estimate: Estimate, spending: Spending) -> float | None:
    usage = Usage(input_tokens=estimate.input_tokens, output_tokens=estimate.output_tokens or 0)
    return spending.budget(model).cost_of(usage, model.bare.label)


def _figures(estimate: Estimate, cost: float | None) -> str:
    asked = (
        f"{count(estimate.requests)} requests, about {count(estimate.input_tokens)} input tokens"
    )
    if cost is None:
        return asked
    if estimate.output_tokens is None:
        return f"{asked}, {money(cost)} and the output, which nothing limits"
    return (
        f"{asked}, at most about {money(cost)} with {count(estimate.output_tokens)} output tokens"
    )


def _sum(numbers: Iterable[N | None]) -> N | None:
    """Return the sum of some numbers; None if one is not known."""
    known = list(numbers)
    return None if None in known else cast("N", sum(cast("list[N]", known)))

"""The estimate of a run's requests, tokens and cost, made without a request."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar, cast

from pytest_llmeval.engine.batches.settings import BATCH
from pytest_llmeval.engine.context import StagedSolver
from pytest_llmeval.engine.expectation import CHARACTERS_PER_TOKEN, TOKENS_PER_IMAGE, ceiling_of
from pytest_llmeval.engine.plan import Plan
from pytest_llmeval.engine.specs import ModelSpec
from pytest_llmeval.errors import TaskError
from pytest_llmeval.providers.opening import has_batches
from pytest_llmeval.records import Json, Sample, Usage
from pytest_llmeval.report.numbers import count, money
from pytest_llmeval.scoring.judge.scorer import JudgeScorer
from pytest_llmeval.session.choice import model_choice
from pytest_llmeval.session.settings import Settings
from pytest_llmeval.session.spending import Spending
from pytest_llmeval.task.catalog import Catalog, LoadedTask
from pytest_llmeval.task.rendering import render

N = TypeVar("N", int, float)


@dataclass(slots=True)
class Estimate:
    """The requests of one task to one model.

    Attributes:
        requests: number of requests.
        input_tokens: their input tokens, about.
        output_tokens: output tokens at most; None if a request does not limit its reply.
    """

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int | None = 0

    def add(self, *, input_tokens: int, ceiling: int | None) -> None:
        """Count one request, of which the reply has at most `ceiling` tokens."""
        self.requests += 1
        self.input_tokens += input_tokens
        self.output_tokens = _sum((self.output_tokens, ceiling))

    @classmethod
    def together(cls, parts: Sequence[Estimate]) -> Estimate:
        """Return the sum of several estimates."""
        return cls(
            requests=sum(part.requests for part in parts),
            input_tokens=sum(part.input_tokens for part in parts),
            output_tokens=_sum(part.output_tokens for part in parts),
        )


def estimate_lines(plan: Plan, settings: Settings, catalog: Catalog) -> list[str]:
    """Return the estimate of a plan: a line for each task and model.

    A line has the requests, the input tokens and, with prices, the dollars. If several lines have
    requests, a last line has their sums, without dollars if a price is missing.

    Each stage counts once for each sample and epoch, as does each vote of a judge. Repairs, further
    turns, retries, texts that later stages take from earlier replies, and what solvers ask of other
    roles are not included; lines name the models of such roles.
    """
    estimates = _estimates(plan, settings, catalog)
    spending = Spending(settings)
    asked = {key: estimate for key, estimate in estimates.items() if not key[1].recorded}
    costs = {key: _cost(key[1], estimate, spending) for key, estimate in asked.items()}
    batched = {key: _batch_cost(key[1], estimate, spending) for key, estimate in asked.items()}
    lines = [
        f"{task} · {model.label}: "
        + (
            "recorded replies, nothing is asked"
            if model.recorded
            else _figures(estimate, costs[task, model]) + _by_batch(batched[task, model])
        )
        for (task, model), estimate in estimates.items()
    ]
    lines += _partner_lines(plan, settings, catalog)
    if len(asked) > 1:
        together = Estimate.together(list(asked.values()))
        by_batch = _by_batch(_sum(batched.values()))
        lines.append(f"all: {_figures(together, _sum(costs.values()))}{by_batch}")
    return lines


def _estimates(
    plan: Plan, settings: Settings, catalog: Catalog
) -> Mapping[tuple[str, ModelSpec], Estimate]:
    """Return the estimate of each task and model."""
    estimates: defaultdict[tuple[str, ModelSpec], Estimate] = defaultdict(Estimate)
    choice = model_choice(settings, catalog)
    # Computed once per sample: each model and epoch sends the same prompts.
    prompts: dict[tuple[str, str], list[int]] = {}
    for test in plan.tests:
        loaded = catalog.at(test.file)
        sample, solver = loaded.by_id[test.sample], choice.solver(test)
        if (place := (test.file, test.sample)) not in prompts:
            prompts[place] = list(_prompt_tokens(loaded, sample))
        for tokens in prompts[place]:
            estimates[test.task, solver].add(
                input_tokens=tokens, ceiling=_ceiling(solver, loaded.task.generate)
            )
        for declared in loaded.scorers:
            if not isinstance(declared.scorer, JudgeScorer):
                continue
            judges = choice.of_scorer(declared.scorer, test)
            for tokens in _question_tokens(declared.scorer, sample):
                for judge in judges * declared.scorer.votes:
                    ceiling = _ceiling(judge, declared.scorer.prompt.parameters)
                    estimates[test.task, judge].add(input_tokens=tokens, ceiling=ceiling)
    return estimates


def _question_tokens(scorer: JudgeScorer, sample: Sample) -> Iterator[int]:
    """Yield the input tokens of one vote's questions, without those of the answer."""
    pictures = len(sample.images) * TOKENS_PER_IMAGE if scorer.pictures else 0
    for prompt in scorer.prompt.orders:
        messages = prompt.messages(sample, "")
        yield sum(len(message.text) for message in messages) // CHARACTERS_PER_TOKEN + pictures


def _partner_lines(plan: Plan, settings: Settings, catalog: Catalog) -> list[str]:
    """Return a line for each live model that solvers declare to ask in another role."""
    choice = model_choice(settings, catalog)
    lines = (
        f"{test.task} · {model.label}: asked as {role}, as often as the solver does; not estimated"
        for test in plan.kinds
        for role, model in choice.partners(test).items()
        if not model.recorded
    )
    return list(dict.fromkeys(lines))


def _prompt_tokens(loaded: LoadedTask, sample: Sample) -> Iterator[int]:
    """Yield each stage's input tokens, computed as the engine does before it sends a request."""
    solver = loaded.task.named_solver
    variables = solver.variables() if isinstance(solver, StagedSolver) else {}
    # A stage of the name of a role is sent to the model of that role.
    others = getattr(solver, "roles", ())
    for stage, turns in loaded.task.prompt.items():
        if stage in others:
            continue
        try:
            texts: Sequence[str] = [
                message.text for message in render(loaded.task, stage, sample, (), variables)
            ]
        except TaskError:
            # The variables of a function's later stages are not known here.
            texts = [turn.text for turn in turns]
        yield sum(map(len, texts)) // CHARACTERS_PER_TOKEN + len(sample.images) * TOKENS_PER_IMAGE


def _ceiling(model: ModelSpec, parameters: Mapping[str, Json]) -> int | None:
    return ceiling_of(model.requested(parameters, epoch=1, draw=0))


def _cost(model: ModelSpec, estimate: Estimate, spending: Spending) -> float | None:
    usage = Usage(input_tokens=estimate.input_tokens, output_tokens=estimate.output_tokens or 0)
    return spending.budget(model).cost_of(usage, model.bare.label)


def _batch_cost(model: ModelSpec, estimate: Estimate, spending: Spending) -> float | None:
    """Return the dollars in batches; None without a price, or a batch API."""
    if not has_batches(model):
        return None
    usage = Usage(input_tokens=estimate.input_tokens, output_tokens=estimate.output_tokens or 0)
    return spending.budget(model).cost_of(usage, spending.batch_name(model))


def _by_batch(cost: float | None) -> str:
    return "" if cost is None else f" ({money(cost)} by {BATCH})"


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
    """Return the sum of some numbers; None if one of them is None."""
    known = list(numbers)
    return None if None in known else cast("N", sum(cast("list[N]", known)))

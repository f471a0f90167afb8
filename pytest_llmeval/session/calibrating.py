"""Runs judges over labelled cases."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pytest_llmeval.engine.calls import Calls
from pytest_llmeval.engine.judging import Case, Prefilter, ask_judges
from pytest_llmeval.engine.models import Models
from pytest_llmeval.engine.specs import ModelSpec
from pytest_llmeval.engine.tickets import Ticket
from pytest_llmeval.errors import ProviderError
from pytest_llmeval.scoring.judge.calibration import JudgedCase
from pytest_llmeval.scoring.judge.judgement import Judgement, Opinion, panel_name
from pytest_llmeval.scoring.judge.prefilter import PlainDecision
from pytest_llmeval.session.calibrations import LabelledCase


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What the judges made of one case, and which versions of models answered, by their own word."""

    case: LabelledCase
    judgement: Judgement
    models: frozenset[str] = frozenset()

    def by(self, judge: str) -> Opinion:
        """Return what one judge, or all together under the name of the panel, found."""
        if judge != self.judgement.judge:
            return next(opinion for opinion in self.judgement.opinions if opinion.judge == judge)
        if len(self.judgement.opinions) == 1:
            return self.judgement.opinions[0]
        verdict = self.judgement.verdict
        equivalent = None if verdict is None else verdict.equivalent
        return Opinion(judge=judge, equivalent=equivalent, reason=self.judgement.explanation)


def judged(found: Found, judge: str) -> JudgedCase:
    """Return a case with the verdict of one judge, or of all together."""
    opinion = found.by(judge)
    case = found.case
    return JudgedCase(
        kind=case.kind, label=case.equivalent, verdict=opinion.equivalent, votes=opinion.votes
    )


def judge_cases(
    cases: Sequence[LabelledCase],
    judges: Sequence[ModelSpec],
    open_models: Callable[[], Models],
    *,
    votes: int,
) -> list[Found]:
    """Ask the judges about every case, without the prefilter and without stopping early.

    `open_models` is called in a loop of its own. A case that a provider refuses (a content filter)
    is one without verdict. ProviderError when a judge is lost.
    """

    async def ask() -> list[Found]:
        models = open_models()
        try:
            asked = (
                _judge(case, judges, Calls(models, Ticket(order)), votes)
                for order, case in enumerate(cases)
            )
            return await asyncio.gather(*asked)
        finally:
            await models.close()

    return asyncio.run(ask())


def decide_cases(cases: Sequence[LabelledCase]) -> list[JudgedCase]:
    """Return what the prefilter decides; the verdict of a case that it leaves to a judge is None."""

    async def decide() -> list[tuple[LabelledCase, PlainDecision]]:
        prefilter = Prefilter()
        try:
            return [(case, await prefilter.decide(case.candidate, case.target)) for case in cases]
        finally:
            prefilter.close()

    decided = asyncio.run(decide())
    said = {"equal": True, "different": False, "undecided": None}
    return [
        JudgedCase(kind=case.kind, label=case.equivalent, verdict=said[one.decision])
        for case, one in decided
    ]


async def _judge(
    case: LabelledCase, judges: Sequence[ModelSpec], calls: Calls, votes: int
) -> Found:
    asked = Case(
        problem=case.problem,
        target=case.target,
        candidate=case.candidate,
        votes=votes,
        prefilter=False,
    )
    try:
        judgement = await ask_judges(asked, judges, calls, stop_early=False)
    except ProviderError as error:
        if error.reach == "model":
            raise
        opinions = tuple(
            Opinion(judge=model.label, equivalent=None, reason=str(error)) for model in judges
        )
        judgement = Judgement(
            verdict=None,
            explanation=str(error),
            judge=panel_name([model.label for model in judges]),
            opinions=opinions,
        )
    return Found(
        case=case,
        judgement=judgement,
        models=frozenset(call.reply.model for call in calls.transcript.calls),
    )

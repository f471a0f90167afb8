"""Runs judges over labelled cases."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pytest_llmeval.engine.calls import Calls
from pytest_llmeval.engine.failures import SEVERAL
from pytest_llmeval.engine.models import Models
from pytest_llmeval.engine.resources import Resources
from pytest_llmeval.engine.scoring_run import ScoringRun
from pytest_llmeval.engine.specs import ModelSpec
from pytest_llmeval.engine.tickets import Ticket
from pytest_llmeval.errors import ModelLost, ProviderError
from pytest_llmeval.records import Sample
from pytest_llmeval.scoring.judge import (
    JudgedCase,
    Judgement,
    Opinion,
    panel_name,
)
from pytest_llmeval.scoring.judge.scorer import JudgeScorer
from pytest_llmeval.session.labelled_cases import LabelledCase


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The judges' verdict on one case.

    `models` are the models that answered, by the names that they report.
    """

    case: LabelledCase
    judgement: Judgement
    models: frozenset[str] = frozenset()

    @property
    def judges(self) -> tuple[str, ...]:
        """The judges, and behind several their common name."""
        names = [opinion.judge for opinion in self.judgement.opinions]
        return tuple(dict.fromkeys([*names, panel_name(names)]))

    def by(self, judge: str) -> Opinion:
        """Return the opinion of one judge, or of all under their common name."""
        for opinion in self.judgement.opinions:
            if opinion.judge == judge:
                return opinion
        verdict = self.judgement.verdict
        correct = None if verdict is None else verdict.correct
        return Opinion(judge=judge, correct=correct, reason=self.judgement.explanation)

    def judged_by(self, judge: str) -> JudgedCase:
        """Return the case with the verdict of one judge, or of all under their common name."""
        opinion = self.by(judge)
        return JudgedCase(
            kind=self.case.kind,
            label=self.case.equivalent,
            verdict=opinion.correct,
            votes=opinion.votes,
        )


def judge_cases(
    cases: Sequence[LabelledCase],
    judges: Sequence[ModelSpec],
    open_models: Callable[[], Models],
    *,
    votes: int,
) -> list[Found]:
    """Ask the judges about every case, without the prefilter and without stopping early.

    Args:
        cases: the cases.
        judges: the judges, each once.
        open_models: gives the way to the models; called inside an event loop.
        votes: number of verdicts asked for each case, of each judge.

    Returns:
        One result for each case. A case that a provider refuses has no verdict.

    Raises:
        ProviderError: a judge cannot be asked, or refuses all of several cases.
    """

    async def ask() -> list[Found]:
        models = open_models()
        try:
            asked = (
                _judge(case, judges, Calls(models, Ticket(order)), votes)
                for order, case in enumerate(cases)
            )
            found = await asyncio.gather(*asked)
        finally:
            await models.close()
        if len(found) >= SEVERAL and not any(one.models for one in found):
            problem = f"none of {len(found)} cases was judged; {found[0].judgement.explanation}"
            raise ProviderError(problem, reach="model")
        return found

    return asyncio.run(ask())


async def _judge(
    case: LabelledCase, judges: Sequence[ModelSpec], calls: Calls, votes: int
) -> Found:
    context = ScoringRun(judges, calls, Resources())
    sample = Sample(id=case.id, input=case.problem, target=case.target)
    try:
        judgement = await JudgeScorer(votes=votes).judged(
            sample, case.candidate, context, stop_early=False
        )
    except (ProviderError, ModelLost) as error:
        if isinstance(error, ProviderError) and error.reach == "model":
            raise
        judgement = Judgement(
            verdict=None,
            explanation=str(error),
            judge=panel_name(context.models),
            opinions=tuple(
                Opinion(judge=name, correct=None, reason=str(error), failure=str(error))
                for name in context.models
            ),
        )
    answered = frozenset(call.reply.model for call in calls.transcript.calls)
    return Found(case=case, judgement=judgement, models=answered)

"""Runs judges over labelled cases."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from pytest_llmeval.engine.calls import Calls
from pytest_llmeval.engine.models import Models
from pytest_llmeval.engine.resources import Resources
from pytest_llmeval.engine.scoring_run import ScoringRun
from pytest_llmeval.engine.specs import ModelSpec
from pytest_llmeval.engine.tickets import Ticket
from pytest_llmeval.errors import LLMEvalError, RunStopped
from pytest_llmeval.records import Verdict
from pytest_llmeval.scoring.judge import JudgedCase, Opinion, panel_name, together
from pytest_llmeval.scoring.judge.scale import Scale
from pytest_llmeval.scoring.judge.scorer import JudgeScorer
from pytest_llmeval.session.labelled_cases import LabelledCase


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseOpinion:
    """What one judge, or several together, found of a case.

    Attributes:
        case: the case.
        opinion: what is said of it; its `failure` is the error because of which it is nothing.
        verdict: the whole verdict behind it; None if there is none.
        asked: whether the judge was asked; not after the run had ended, as by its budget.
        models: names of the models that answered, as they report them.
    """

    case: LabelledCase
    opinion: Opinion
    verdict: Verdict | None = None
    asked: bool = True
    models: frozenset[str] = frozenset()

    @property
    def judged(self) -> JudgedCase:
        """The case for the figures of the judge."""
        return JudgedCase(
            kind=self.case.kind,
            label=self.case.correct,
            verdict=self.opinion.correct,
            votes=self.opinion.votes,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeFindings:
    """What a judge found of all cases; of several together under their common name."""

    judge: str
    cases: tuple[CaseOpinion, ...] = field(repr=False)

    @property
    def asked(self) -> tuple[CaseOpinion, ...]:
        """The cases that the judge was asked about."""
        return tuple(one for one in self.cases if one.asked)

    @property
    def failures(self) -> tuple[str, ...]:
        """The errors of cases without a verdict, each once, in the order of the cases."""
        return tuple(
            dict.fromkeys(one.opinion.failure for one in self.cases if one.opinion.failure)
        )

    @property
    def verdicts(self) -> int:
        """The number of cases with a verdict."""
        return sum(one.opinion.correct is not None for one in self.cases)


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """Judges, and how they are asked.

    Attributes:
        scorer: its question is asked, without its prefilter and without stopping early.
        judges: the judges, each once.
        open_models: gives the way to the models; called inside an event loop.
    """

    scorer: JudgeScorer
    judges: Sequence[ModelSpec]
    open_models: Callable[[], Models]

    def judge(self, cases: Sequence[LabelledCase]) -> tuple[JudgeFindings, ...]:
        """Ask every judge about every case.

        A judge that fails has no verdict on that case, or on all that are left if it fails for
        good. The others are asked on.

        Returns:
            The findings of each judge and, behind several, of all together.
        """
        found = asyncio.run(self._ask(cases))
        alone = tuple(
            JudgeFindings(judge=name, cases=tuple(of_case))
            for name, of_case in zip(self._names, zip(*found, strict=True), strict=True)
        )
        scale = self.scorer.prompt.scale
        return alone if len(alone) == 1 else (*alone, _together(scale, alone))

    async def _ask(self, cases: Sequence[LabelledCase]) -> list[list[CaseOpinion]]:
        models = self.open_models()
        try:
            asked = (
                asyncio.gather(*self._opinions(case, models, Ticket(order)))
                for order, case in enumerate(cases)
            )
            return await asyncio.gather(*asked)
        finally:
            await models.close()

    def _opinions(
        self, case: LabelledCase, models: Models, ticket: Ticket
    ) -> Iterator[Coroutine[None, None, CaseOpinion]]:
        for name, judge in zip(self._names, self.judges, strict=True):
            context = ScoringRun([judge], Calls(models, ticket), Resources())
            yield self._opinion(case, name, context)

    async def _opinion(self, case: LabelledCase, name: str, context: ScoringRun) -> CaseOpinion:
        asked, verdict = True, None
        try:
            found = await self.scorer.judged(case.sample, case.answer, context, stop_early=False)
            opinion, verdict = replace(found.opinions[0], judge=name), found.verdict
        except LLMEvalError as error:
            asked = not isinstance(error, RunStopped)
            opinion = Opinion(judge=name, correct=None, reason=str(error), failure=str(error))
        answered = frozenset(call.reply.model for call in context.calls.transcript.calls)
        return CaseOpinion(
            case=case, opinion=opinion, verdict=verdict, asked=asked, models=answered
        )

    @property
    def _names(self) -> tuple[str, ...]:
        """The judges' labels, or specs where two have the same label."""
        labels = [judge.label for judge in self.judges]
        return tuple(
            judge.label if labels.count(judge.label) == 1 else judge.text for judge in self.judges
        )


def _together(scale: Scale, judges: Sequence[JudgeFindings]) -> JudgeFindings:
    """Return what several judges decide; one without a verdict counts for neither side."""
    name = panel_name([one.judge for one in judges])
    return JudgeFindings(
        judge=name,
        cases=tuple(
            _combined(scale, name, of_case)
            for of_case in zip(*(one.cases for one in judges), strict=True)
        ),
    )


def _combined(scale: Scale, name: str, found: Sequence[CaseOpinion]) -> CaseOpinion:
    opinions, verdicts = [one.opinion for one in found], [one.verdict for one in found]
    verdict, explanation = together(scale, opinions, verdicts)
    correct = None if verdict is None else verdict.correct
    return CaseOpinion(
        case=found[0].case,
        opinion=Opinion(judge=name, correct=correct, reason=explanation),
        asked=all(one.asked for one in found),
        models=frozenset(model for one in found for model in one.models),
    )

"""The scorer ``judge``: a model decides whether an answer is equivalent to the target."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from pytest_llmeval.errors import LLMEvalError, RunStopped
from pytest_llmeval.records import Completion, Json, Message, Role, Sample, Score, Verdict
from pytest_llmeval.records.score import DECIDED_BY
from pytest_llmeval.scoring.binary import shown
from pytest_llmeval.scoring.judge.judgement import Judgement, Opinion, majority, panel_name
from pytest_llmeval.scoring.judge.prefilter import PREFILTER_VERSION, decide_plainly
from pytest_llmeval.scoring.judge.prompt import (
    JUDGE_PARAMETERS,
    JUDGE_PROMPT_DIGEST,
    JUDGE_PROMPT_VERSION,
    judge_messages,
)
from pytest_llmeval.scoring.judge.voting import Ballot, VoteCount
from pytest_llmeval.scoring.scorer import NO_ANSWER, ScorerContext

EMPTY = "no answer"
"""What decides about an empty answer, in place of a rule or a judge."""

NO_JUDGE = "no judge is configured: pass --llmeval-judge SPEC or set JUDGE_DEPLOYMENT"


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeScorer:
    """Scores 1 if the judges find an answer equivalent to the target, else 0.

    Attributes:
        votes: how often each judge is asked about one answer; the majority counts.
        prefilter: whether plain answers are decided by rules, without a judge.
        models: specs of the judges, unless the command line names others; several decide by
            majority.
        role: whose models of the run are asked.
    """

    name: str = "judge"
    votes: int = 1
    prefilter: bool = True
    models: tuple[str, ...] = ()
    role: Role = "judge"
    scale: ClassVar[float] = 1.0
    only_incorrect: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Raise ValueError for a number of votes outside of 1..99."""
        if not 1 <= self.votes <= 99:  # noqa: PLR2004 - as the message says
            msg = f"votes is {self.votes!r}; it must be from 1 to 99"
            raise ValueError(msg)

    @property
    def spec(self) -> tuple[str, dict[str, Json]]:
        """Name and options by which the engine makes this scorer again."""
        options: dict[str, Json] = {
            "votes": self.votes,
            "prefilter": self.prefilter,
            "models": [*self.models],
            "role": self.role,
        }
        return "judge", options

    @property
    def grader(self) -> str:
        """Version and digest of the question, and version of the prefilter where it is on."""
        prefilter = PREFILTER_VERSION if self.prefilter else "no prefilter"
        return f"{self.question} {prefilter}"

    @property
    def question(self) -> str:
        """Version and digest of what is asked, such as ``judge/1 prompt 00895f1b``."""
        return f"{JUDGE_PROMPT_VERSION} prompt {JUDGE_PROMPT_DIGEST}"

    @property
    def grader_options(self) -> dict[str, Json]:
        """The options that the grader does not name already."""
        return {"votes": self.votes}

    def asked(self, models: Sequence[str]) -> Sequence[str]:
        """Return all models, sorted: a majority is the same in every order."""
        return sorted(models)

    def check(self, target: str) -> None:
        """Accept every target."""

    def same(self, one: str, other: str, target: str) -> bool:  # noqa: ARG002 - part of the port
        """Whether two answers are equal by the prefilter's rules; no judge is asked."""
        pairs = ((one, other), (other, one))
        return any(decide_plainly(*pair).decision == "equal" for pair in pairs)

    async def prepare(
        self, sample: Sample, completion: Completion, context: ScorerContext
    ) -> dict[str, Json] | None:
        """Return the JSON of the `Judgement` on the completion's answer; None without an answer.

        It is undecided when no judge is configured, or when the judges come to no majority.
        """
        if _empty(answer := completion.answer or ""):
            return None
        if self.prefilter:
            plain = decide_plainly(answer, sample.target)
            if plain.decision != "undecided":
                return Judgement(
                    verdict=Verdict(correct=plain.decision == "equal", reason=plain.reason),
                    explanation=plain.reason,
                    judge=PREFILTER_VERSION,
                    decided_by="symbolic",
                ).to_json()
        if not context.models:
            return Judgement(verdict=None, explanation=NO_JUDGE).to_json()
        return (await self.judged(sample, answer, context)).to_json()

    async def judged(
        self, sample: Sample, candidate: str, context: ScorerContext, *, stop_early: bool = True
    ) -> Judgement:
        """Return what the judges of `context` find of one answer, asked at the same time.

        The prefilter is not asked. A judge that fails loses its vote. The transcript has the judges
        in their order.

        Args:
            sample: the dataset row.
            candidate: the answer.
            context: the way to the judges, at least one.
            stop_early: whether a judge is asked for its votes only until its majority is certain.

        Raises:
            LLMEvalError: the first error of a judge, if all of them failed; any error that is not
                one judge's alone, after all judges are done.
        """
        messages = judge_messages(sample.input, sample.target, candidate)
        ballots = [Ballot(votes=self.votes, stop_early=stop_early) for _ in context.models]
        branches = [context.branch() for _ in ballots]
        polls = map(partial(_poll, messages, self.role), context.models, branches, ballots)
        try:
            failures = await asyncio.gather(*polls, return_exceptions=True)
        finally:
            context.join(branches)
        raised = [one for one in failures if one and not _loses_its_vote(one)]
        if raised or all(failures):
            raise next(filter(None, [*raised, *failures]))
        opinions = tuple(map(_opinion, context.models, ballots, failures))
        verdict, explanation = majority(opinions)
        return Judgement(
            verdict=verdict,
            explanation=explanation,
            tally=VoteCount.combined([ballot.tally for ballot in ballots]).to_json(),
            judge=panel_name(context.models),
            decided_by=None if verdict is None else "judge",
            opinions=opinions,
        )

    def score(self, answer: str | None, sample: Sample, prepared: Json) -> Score:  # noqa: ARG002 - part of the port
        """Return the score that the judgement in `prepared` amounts to; without an answer 0."""
        if _empty(answer):
            return self._score(NO_ANSWER, {DECIDED_BY: EMPTY}, correct=False)
        judgement = Judgement.from_json(prepared)
        correct = None if judgement.verdict is None else judgement.verdict.correct
        return self._score(judgement.explanation, judgement.details, correct=correct)

    def failure(self, answer: str | None, sample: Sample, score: Score) -> str:  # noqa: ARG002 - part of the port
        """Return the first line of a failed assertion."""
        if _empty(answer):
            return f"{self.name}: not asked"
        return f"{self.name}: not equivalent to {shown(sample.target)}"

    def _score(self, explanation: str, details: dict[str, Json], *, correct: bool | None) -> Score:
        return Score(
            name=self.name,
            value=None if correct is None else float(correct),
            correct=correct,
            explanation=explanation,
            grader=self.grader,
            details=details,
        )


def _empty(answer: str | None) -> bool:
    return not (answer and answer.strip())


async def _poll(
    messages: Sequence[Message], role: Role, model: str, context: ScorerContext, ballot: Ballot
) -> None:
    while (draw := ballot.next_draw()) is not None:
        reply = await context.generate(
            messages, model=model, stage="judge", role=role, draw=draw, parameters=JUDGE_PARAMETERS
        )
        ballot.record(draw, reply.text)


def _loses_its_vote(failure: BaseException | None) -> bool:
    """Whether a failure is one of a single judge, without which the others can decide.

    The end of the run is none, nor is a mistake in the code.
    """
    return isinstance(failure, LLMEvalError) and not isinstance(failure, RunStopped)


def _opinion(model: str, ballot: Ballot, failure: BaseException | None) -> Opinion:
    result = None if failure else ballot.result
    return Opinion(
        judge=model,
        correct=None if result is None else result.correct,
        reason=str(failure) if failure else ballot.explanation,
        votes=ballot.decisions,
        wanted=ballot.votes,
        failure=str(failure) if failure else "",
    )

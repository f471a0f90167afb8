"""The scorer ``judge``: a model decides whether an answer is equivalent to the target."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from pytest_llmeval.records import Completion, Json, Message, Sample, Score, Verdict
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
    """

    name: str = "judge"
    votes: int = 1
    prefilter: bool = True
    models: tuple[str, ...] = ()
    prompt: ClassVar[str] = JUDGE_PROMPT_VERSION
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
        }
        return "judge", options

    @property
    def grader(self) -> str:
        """Version and digest of the question, and version of the prefilter where it is on."""
        prefilter = PREFILTER_VERSION if self.prefilter else "no prefilter"
        return f"{self.prompt} prompt {JUDGE_PROMPT_DIGEST} {prefilter}"

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
            plain = decide_plainly(answer, sample.target_text)
            if plain.decision != "undecided":
                return Judgement(
                    verdict=Verdict(equivalent=plain.decision == "equal", reason=plain.reason),
                    explanation=plain.reason,
                    judge=PREFILTER_VERSION,
                    decided_by="symbolic",
                ).to_json()
        if not context.models:
            return Judgement(verdict=None, explanation=NO_JUDGE).to_json()
        messages = judge_messages(sample.input, sample.target_text, answer)
        return (await judged(messages, context, votes=self.votes)).to_json()

    def score(self, answer: str | None, sample: Sample, prepared: Json) -> Score:  # noqa: ARG002 - part of the port
        """Return the score that the judgement in `prepared` amounts to; without an answer 0."""
        if _empty(answer):
            return self._score(NO_ANSWER, {DECIDED_BY: EMPTY}, correct=False)
        judgement = Judgement.from_json(prepared)
        correct = None if judgement.verdict is None else judgement.verdict.equivalent
        return self._score(judgement.explanation, judgement.details, correct=correct)

    def failure(self, answer: str | None, sample: Sample, score: Score) -> str:  # noqa: ARG002 - part of the port
        """Return the first line of a failed assertion."""
        if _empty(answer):
            return f"{self.name}: not asked"
        return f"{self.name}: not equivalent to {shown(sample.target_text)}"

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


async def judged(
    messages: Sequence[Message], context: ScorerContext, *, votes: int, stop_early: bool = True
) -> Judgement:
    """Return what the judges of `context` find, asked at the same time.

    Each is asked for its votes one after the other; with `stop_early` until its majority is
    certain. The transcript has the judges in their order. The first error of a judge is raised
    after all judges are done.
    """
    ballots = [Ballot(votes=votes, stop_early=stop_early) for _ in context.models]
    branches = [context.branch() for _ in ballots]
    polls = map(partial(_poll, messages), context.models, branches, ballots)
    try:
        outcomes = await asyncio.gather(*polls, return_exceptions=True)
    finally:
        context.join(branches)
    if failure := next(filter(None, outcomes), None):
        raise failure
    opinions = tuple(map(_opinion, context.models, ballots))
    verdict, explanation = majority(opinions)
    return Judgement(
        verdict=verdict,
        explanation=explanation,
        tally=VoteCount.combined([ballot.tally for ballot in ballots]).to_json(),
        judge=panel_name(context.models),
        decided_by=None if verdict is None else "judge",
        opinions=opinions,
    )


async def _poll(
    messages: Sequence[Message], model: str, context: ScorerContext, ballot: Ballot
) -> None:
    while (draw := ballot.next_draw()) is not None:
        reply = await context.generate(
            messages, model=model, stage="judge", draw=draw, parameters=JUDGE_PARAMETERS
        )
        ballot.record(draw, reply.text)


def _opinion(model: str, ballot: Ballot) -> Opinion:
    return Opinion(
        judge=model,
        equivalent=None if ballot.result is None else ballot.result.equivalent,
        reason=ballot.explanation,
        votes=ballot.decisions,
        wanted=ballot.votes,
    )

"""Asks several judges about one answer, at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from pytest_llmeval.errors import LLMEvalError, RunStopped
from pytest_llmeval.records import Message, Role, Verdict
from pytest_llmeval.scoring.judge.judgement import Judgement, Opinion, panel_name, together
from pytest_llmeval.scoring.judge.prompt import JudgePrompt
from pytest_llmeval.scoring.judge.voting import Ballot, VoteCount
from pytest_llmeval.scoring.scorer import ScorerContext


@dataclass(frozen=True, slots=True, kw_only=True)
class Poll:
    """What judges are asked about one answer, and how often.

    Attributes:
        prompt: what is asked, on which scale.
        questions: the messages of each of the prompt's orders.
        role: whose models are asked.
        votes: verdicts asked of each judge, in each order.
        stop_early: whether a judge is asked only until its majority is certain.
    """

    prompt: JudgePrompt
    questions: Sequence[Sequence[Message]]
    role: Role
    votes: int
    stop_early: bool

    async def judgement(self, context: ScorerContext) -> Judgement:
        """Return what the judges of `context`, at least one, find.

        A judge that fails loses its vote. The transcript has the judges in their order.

        Raises:
            LLMEvalError: the first error of a judge, if all of them failed; any error that is not
                one judge's alone, after all judges are done.
        """
        judges = [_Judge(model, self) for model in context.models]
        branches = [context.branch() for _ in judges]
        polls = (judge.ask(branch) for judge, branch in zip(judges, branches, strict=True))
        try:
            await asyncio.gather(*polls)
        finally:
            context.join(branches)
        failures = [judge.failure for judge in judges]
        raised = [one for one in failures if one and not _loses_its_vote(one)]
        if raised or all(failures):
            raise next(filter(None, [*raised, *failures]))
        verdict, explanation = together(
            self.prompt.scale,
            [judge.opinion for judge in judges],
            [judge.verdict for judge in judges],
        )
        ballots = chain.from_iterable(judge.ballots for judge in judges)
        return Judgement(
            verdict=verdict,
            explanation=explanation,
            tally=VoteCount.combined([ballot.tally for ballot in ballots]).to_json(),
            judge=panel_name(context.models),
            decided_by=None if verdict is None else "judge",
            opinions=tuple(judge.opinion for judge in judges),
        )


class _Judge:
    """One judge in a poll, with a ballot for each order; `failure` is the error that ended it."""

    def __init__(self, model: str, poll: Poll) -> None:
        self._model, self._poll = model, poll
        self.failure: Exception | None = None
        self.ballots = [
            Ballot(scale=prompt.scale, votes=poll.votes, stop_early=poll.stop_early)
            for prompt in poll.prompt.orders
        ]

    async def ask(self, context: ScorerContext) -> None:
        """Ask for all votes, one after the other."""
        try:
            for messages, ballot in zip(self._poll.questions, self.ballots, strict=True):
                await self._ask(messages, ballot, context)
        except Exception as failure:  # noqa: BLE001 - whose it is, is told when all are done
            self.failure = failure

    async def _ask(
        self, messages: Sequence[Message], ballot: Ballot, context: ScorerContext
    ) -> None:
        while (draw := ballot.next_draw()) is not None:
            reply = await context.generate(
                messages,
                model=self._model,
                stage="judge",
                role=self._poll.role,
                draw=draw,
                parameters=self._poll.prompt.parameters,
            )
            ballot.record(draw, reply)

    @property
    def verdict(self) -> Verdict | None:
        """What its votes amount to; None for a judge that failed."""
        if self.failure is not None:
            return None
        return self._poll.prompt.joined([ballot.result for ballot in self.ballots])

    @property
    def opinion(self) -> Opinion:
        verdict, failure = self.verdict, "" if self.failure is None else str(self.failure)
        return Opinion(
            judge=self._model,
            correct=None if verdict is None else verdict.correct,
            reason=failure or (self._undecided if verdict is None else verdict.reason),
            votes=tuple(chain.from_iterable(ballot.decisions for ballot in self.ballots)),
            wanted=self._poll.votes * len(self.ballots),
            failure=failure,
            value=None if verdict is None else verdict.value,
            label=None if verdict is None else verdict.label,
        )

    @property
    def _undecided(self) -> str:
        return next(ballot.explanation for ballot in self.ballots if ballot.result is None)


def _loses_its_vote(failure: Exception) -> bool:
    """Whether a failure is one of a single judge, without which the others can decide.

    The end of the run is none, nor is a mistake in the code.
    """
    return isinstance(failure, LLMEvalError) and not isinstance(failure, RunStopped)

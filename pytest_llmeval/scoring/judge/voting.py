"""Votes of a judge on one answer: which draw to ask for next, and the result of the replies.

Independent of network and event loop. The caller asks the judge::

    ballot = Ballot(votes=3)
    while (draw := ballot.next_draw()) is not None:
        ballot.record(draw, await ask(draw))
    verdict = ballot.result
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from pytest_llmeval.records import Record, Verdict
from pytest_llmeval.scoring.judge.verdict import judge_verdict

RETRIES: Final = 3
"""Further requests after an unusable reply, for each vote (the published task makes three in
all)."""

T = TypeVar("T")


@dataclass(slots=True, kw_only=True)
class Vote(Generic[T]):
    """One vote, with further requests while the replies are unusable.

    Attributes:
        read: parses a reply; None means that it is unusable.
        retries: highest number of further requests.
        result: the parsed reply; None before there is a usable one.
        replies: number of replies so far.
    """

    read: Callable[[str], T | None]
    retries: int = RETRIES
    result: T | None = field(default=None, init=False)
    replies: int = field(default=0, init=False)

    @property
    def over(self) -> bool:
        """Whether there is a result, or all replies that were allowed were unusable."""
        return self.result is not None or self.replies > self.retries

    def record(self, reply: str) -> None:
        """Add the judge's next reply."""
        self.result = self.read(reply)
        self.replies += 1


class VoteCount(Record, frozen=True, kw_only=True):
    """Counted votes.

    Attributes:
        correct: votes that found the answer correct.
        incorrect: votes that found it incorrect.
        lost: votes lost to unusable replies.
        replies: all replies, unusable ones included.
    """

    correct: int
    incorrect: int
    lost: int
    replies: int

    @classmethod
    def combined(cls, counts: Sequence[VoteCount]) -> VoteCount:
        """Return the sums of several counts."""
        names = cls.__struct_fields__
        return cls(**{name: sum(getattr(count, name) for count in counts) for name in names})


@dataclass(slots=True, kw_only=True)
class Ballot:
    """Up to `votes` verdicts on one answer; a side wins with more than half of `votes`.

    Draws are numbered from 0 without gaps, so equal replies lead to equal draws in every run.

    Attributes:
        votes: number of votes, at least 1.
        retries: further requests after an unusable reply, for each vote, under new draws. A vote
            without a usable reply is lost and counts for neither side.
        stop_early: end as soon as the outcome is certain. Off when the agreement of votes is to be
            measured, which needs all of them.
    """

    votes: int = 1
    retries: int = RETRIES
    stop_early: bool = True
    _verdicts: list[Verdict | None] = field(default_factory=list, init=False)
    _replies: int = field(default=0, init=False)
    _vote: Vote[Verdict] = field(init=False)

    def __post_init__(self) -> None:
        """Raise ValueError for a ballot that could never decide."""
        if self.votes < 1 or self.retries < 0:
            msg = (
                "a ballot needs votes >= 1 and retries >= 0, "
                f"not votes={self.votes}, retries={self.retries}"
            )
            raise ValueError(msg)
        self._vote = Vote(read=judge_verdict, retries=self.retries)

    def next_draw(self) -> int | None:
        """Return the draw to ask for, or None when voting is over."""
        over = len(self._verdicts) == self.votes or (self.stop_early and self._certain())
        return None if over else self._replies

    def record(self, draw: int, reply: str) -> None:
        """Add the judge's reply to the draw that `next_draw` returned; ValueError for another."""
        if draw != self.next_draw():
            msg = f"ballot: draw {draw} was recorded, but the next draw is {self.next_draw()}"
            raise ValueError(msg)
        self._replies += 1
        self._vote.record(reply)
        if self._vote.over:
            self._verdicts.append(self._vote.result)
            self._vote = Vote(read=judge_verdict, retries=self.retries)

    @property
    def tally(self) -> VoteCount:
        """The votes so far, counted."""
        return VoteCount(
            correct=self._count(correct=True),
            incorrect=self._count(correct=False),
            lost=self._verdicts.count(None),
            replies=self._replies,
        )

    @property
    def decisions(self) -> tuple[bool | None, ...]:
        """The votes so far, in order: True for correct, None for a lost one."""
        return tuple(verdict.correct if verdict else None for verdict in self._verdicts)

    @property
    def result(self) -> Verdict | None:
        """The winning side's first verdict; None without a winner."""
        for side in (True, False):
            if self._count(correct=side) * 2 > self.votes:
                return next(found for found in self._verdicts if found and found.correct is side)
        return None

    @property
    def explanation(self) -> str:
        """The reason of the winning side, or why there is none."""
        if verdict := self.result:
            return verdict.reason
        count = self.tally
        if count.correct or count.incorrect:
            return (
                f"the judge's votes decide nothing: {count.correct} correct, "
                f"{count.incorrect} incorrect, {count.lost} lost of {self.votes}"
            )
        return (
            f"the judge gave no usable verdict in {count.replies} replies "
            "(wanted: one JSON object and nothing else)"
        )

    def _count(self, *, correct: bool) -> int:
        return sum(verdict.correct is correct for verdict in self._verdicts if verdict)

    def _certain(self) -> bool:
        """Return whether a side has won, or the remaining votes cannot make one win."""
        left = self.votes - len(self._verdicts)
        leader = max(self._count(correct=True), self._count(correct=False))
        return leader * 2 > self.votes or (leader + left) * 2 <= self.votes

"""Votes of a judge on one answer: which draw to ask for next, and what the replies add up to.

No waiting and no network: whoever drives a ballot asks the judge, in a loop of its own kind::

    ballot = Ballot(votes=3)
    while (draw := ballot.next_draw()) is not None:
        ballot.record(draw, await ask(draw))
    verdict = ballot.result
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from pytest_llmeval.records import Json, Verdict
from pytest_llmeval.scoring.judge.verdict import judge_verdict

RETRIES: Final = 3
"""Further replies asked for when one is unusable, per vote (the published task tries three times in
all)."""

_Read = TypeVar("_Read")


@dataclass(slots=True, kw_only=True)
class Vote(Generic[_Read]):
    """One vote: the judge is asked again, up to `retries` times, while `read` finds its reply unusable (None)."""

    read: Callable[[str], _Read | None]
    retries: int = RETRIES
    result: _Read | None = field(default=None, init=False)
    replies: int = field(default=0, init=False)

    @property
    def over(self) -> bool:
        """Whether there is a result, or the vote is lost to unusable replies."""
        return self.result is not None or self.replies > self.retries

    def record(self, reply: str) -> None:
        """Take the judge's next reply."""
        self.result = self.read(reply)
        self.replies += 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How a ballot stands: votes for each side, votes lost to unusable replies, and all replies asked for."""

    equivalent: int
    different: int
    lost: int
    replies: int

    @classmethod
    def combined(cls, parts: Sequence[Tally]) -> Tally:
        """Return the sums of several ballots."""
        return cls(**{name: sum(getattr(part, name) for part in parts) for name in cls.__slots__})

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return {
            "equivalent": self.equivalent,
            "different": self.different,
            "lost": self.lost,
            "replies": self.replies,
        }


@dataclass(slots=True, kw_only=True)
class Ballot:
    """Up to `votes` verdicts on one answer; a side wins with more than half of `votes`.

    Draws count from 0 without gaps, so the same replies lead to the same draws whoever drives. An
    unusable reply is asked for again under a new draw, up to `retries` times a vote; then that vote
    is lost, which helps neither side. Asking ends when the outcome is certain, or with `stop_early`
    off after the last vote: measuring how far votes agree needs them all.
    """

    votes: int = 1
    retries: int = RETRIES
    stop_early: bool = True
    _cast: list[Verdict | None] = field(default_factory=list, init=False)
    _replies: int = field(default=0, init=False)
    _vote: Vote[Verdict] = field(init=False)

    def __post_init__(self) -> None:
        """Refuse a ballot that could never decide."""
        if self.votes < 1 or self.retries < 0:
            msg = f"a ballot needs votes >= 1 and retries >= 0, not votes={self.votes}, retries={self.retries}"
            raise ValueError(msg)
        self._vote = self._next_vote()

    def next_draw(self) -> int | None:
        """Return the draw to ask for, or None when voting is over."""
        over = len(self._cast) == self.votes or (self.stop_early and self._certain())
        return None if over else self._replies

    def record(self, draw: int, reply: str) -> None:
        """Take the judge's reply to the draw that `next_draw` named; ValueError for any other draw."""
        if draw != self.next_draw():
            msg = f"ballot: draw {draw} was recorded, but the next draw is {self.next_draw()}"
            raise ValueError(msg)
        self._replies += 1
        self._vote.record(reply)
        if self._vote.over:
            self._cast.append(self._vote.result)
            self._vote = self._next_vote()

    @property
    def tally(self) -> Tally:
        """How the ballot stands."""
        return Tally(
            equivalent=self._count(equivalent=True),
            different=self._count(equivalent=False),
            lost=self._cast.count(None),
            replies=self._replies,
        )

    @property
    def decisions(self) -> tuple[bool | None, ...]:
        """The votes so far, in order: True for equivalent, None for a lost one."""
        return tuple(vote.equivalent if vote else None for vote in self._cast)

    @property
    def result(self) -> Verdict | None:
        """The winning side's first verdict; None when undecided, tied, or lost to unusable replies."""
        for side in (True, False):
            if self._count(equivalent=side) * 2 > self.votes:
                return next(vote for vote in self._cast if vote and vote.equivalent is side)
        return None

    @property
    def explanation(self) -> str:
        """The winning reason, or why there is none, for a person to read."""
        if verdict := self.result:
            return verdict.reason
        tally = self.tally
        stand = f"{tally.equivalent} equivalent, {tally.different} different, {tally.lost} lost of {self.votes}"
        if tally.equivalent or tally.different:
            return f"the judge's votes decide nothing: {stand}"
        return f"the judge gave no usable verdict in {tally.replies} replies (wanted: one JSON object and nothing else)"

    def _next_vote(self) -> Vote[Verdict]:
        return Vote(read=judge_verdict, retries=self.retries)

    def _count(self, *, equivalent: bool) -> int:
        return sum(vote.equivalent is equivalent for vote in self._cast if vote)

    def _certain(self) -> bool:
        """Tell whether a side has won, or the votes left cannot make one win."""
        left = self.votes - len(self._cast)
        leader = max(self._count(equivalent=True), self._count(equivalent=False))
        return leader * 2 > self.votes or (leader + left) * 2 <= self.votes

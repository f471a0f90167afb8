"""Votes of a judge on one answer: which draw to ask for next, and the result of the replies.

Independent of network and event loop. The caller asks the judge::

    ballot = Ballot(votes=3)
    while (draw := ballot.next_draw()) is not None:
        ballot.record(draw, await ask(draw))
    verdict = ballot.result
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from pytest_llmeval.records import Record, Reply, StopReason, Verdict
from pytest_llmeval.scoring.judge.reply import refused
from pytest_llmeval.scoring.judge.scale import Scale
from pytest_llmeval.scoring.judge.verdict_scale import VerdictScale

RETRIES: Final = 3
"""Further requests after an unusable reply, for each vote (the published task makes three in
all)."""

CUT: Final[Mapping[StopReason, str]] = {
    "length": (
        "the judge's reply was cut by its limit of tokens before it gave a verdict; give it more "
        "in its spec, such as --llmeval-judge SPEC,max_tokens=4096"
    ),
    "refusal": "the judge refused to give a verdict",
    "filter": "a filter of the judge's provider withheld the verdict",
}
"""Why a reply that ended so holds no verdict. The same request would most likely end so again, and
cost as much, so it is not sent again."""

T = TypeVar("T")


@dataclass(slots=True, kw_only=True)
class Vote(Generic[T]):
    """One vote, with further requests while the replies are unusable.

    Attributes:
        read: parses a reply; None means that it is unusable.
        retries: highest number of further requests.
        result: the parsed reply; None before there is a usable one.
        replies: number of replies so far.
        last: the text of the last one.
        cut: how the last reply was cut, if it was and is unusable; "" if not. It is a key of CUT,
            and ends the vote.
    """

    read: Callable[[str], T | None]
    retries: int = RETRIES
    result: T | None = field(default=None, init=False)
    replies: int = field(default=0, init=False)
    last: str = field(default="", init=False)
    cut: StopReason | None = field(default=None, init=False)

    @property
    def over(self) -> bool:
        """Whether there is a result, or no further reply may bring one."""
        return self.result is not None or self.cut is not None or self.replies > self.retries

    def record(self, reply: Reply) -> None:
        """Add the judge's next reply. One that is usable counts however it ended."""
        self.result, self.last = self.read(reply.text), reply.text
        self.replies += 1
        if self.result is None and reply.stop_reason in CUT:
            self.cut = reply.stop_reason


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
    """Up to `votes` verdicts on one answer; the scale says what they amount to.

    Draws are numbered from 0 without gaps, so equal replies lead to equal draws in every run.

    Attributes:
        scale: what a verdict consists of.
        votes: number of votes, at least 1.
        retries: further requests after an unusable reply, for each vote, under new draws. A vote
            without a usable reply is lost and counts for neither side.
        stop_early: end as soon as the outcome is certain. Off when the agreement of votes is to be
            measured, which needs all of them.
    """

    scale: Scale = field(default_factory=VerdictScale)
    votes: int = 1
    retries: int = RETRIES
    stop_early: bool = True
    _verdicts: list[Verdict | None] = field(default_factory=list, init=False)
    _replies: int = field(default=0, init=False)
    _cut: StopReason | None = field(default=None, init=False)
    _refused: str = field(default="", init=False)
    _vote: Vote[Verdict] = field(init=False)

    def __post_init__(self) -> None:
        """Raise ValueError for a ballot that could never decide."""
        if self.votes < 1 or self.retries < 0:
            msg = (
                "a ballot needs votes >= 1 and retries >= 0, "
                f"not votes={self.votes}, retries={self.retries}"
            )
            raise ValueError(msg)
        self._vote = self._next_vote()

    def next_draw(self) -> int | None:
        """Return the draw to ask for, or None when voting is over."""
        over = self._left == 0 or (
            self.stop_early and self.scale.is_settled(self._verdicts, self._left)
        )
        return None if over else self._replies

    def record(self, draw: int, reply: Reply) -> None:
        """Add the judge's reply to the draw that `next_draw` returned; ValueError for another."""
        if draw != self.next_draw():
            msg = f"ballot: draw {draw} was recorded, but the next draw is {self.next_draw()}"
            raise ValueError(msg)
        self._replies += 1
        self._vote.record(reply)
        if self._vote.result is None:
            self._refused = self._vote.last
        if self._vote.over:
            self._verdicts.append(self._vote.result)
            self._cut = self._vote.cut or self._cut
            self._vote = self._next_vote()

    @property
    def tally(self) -> VoteCount:
        """The votes so far, counted."""
        return VoteCount(
            correct=self.decisions.count(True),
            incorrect=self.decisions.count(False),
            lost=self._verdicts.count(None),
            replies=self._replies,
        )

    @property
    def decisions(self) -> tuple[bool | None, ...]:
        """The votes so far, in order: True for correct, None for a lost one."""
        return tuple(verdict.correct if verdict else None for verdict in self._verdicts)

    @property
    def result(self) -> Verdict | None:
        """What the votes amount to; None if they decide nothing."""
        return self.scale.combined([*self._verdicts, *[None] * self._left])

    @property
    def explanation(self) -> str:
        """The reason of the result, or why there is none."""
        if verdict := self.result:
            return verdict.reason
        count = self.tally
        if count.correct or count.incorrect:
            problem = (
                f"the judge's votes decide nothing: {count.correct} correct, "
                f"{count.incorrect} incorrect, {count.lost} lost of {self.votes}"
            )
            return f"{problem}; {CUT[self._cut]}" if self._cut else problem
        if self._cut:
            return CUT[self._cut]
        return refused("verdict", count.replies, self.scale.properties, self._refused)

    @property
    def _left(self) -> int:
        return self.votes - len(self._verdicts)

    def _next_vote(self) -> Vote[Verdict]:
        return Vote(read=self.scale.read, retries=self.retries)

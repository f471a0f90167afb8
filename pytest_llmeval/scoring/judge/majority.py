"""More than half of several votes, and of several verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

from pytest_llmeval.records import Verdict

V = TypeVar("V", bound=Hashable)


def winner(votes: Sequence[V | None]) -> V | None:
    """Return what more than half of all votes are for; None if nothing is.

    Args:
        votes: None for one that is lost or not cast: it counts for no side.
    """
    counts = Counter(vote for vote in votes if vote is not None)
    for vote, count in counts.most_common(1):
        if count * 2 > len(votes):
            return vote
    return None


def winning(
    verdicts: Sequence[Verdict | None], side: Callable[[Verdict], V | None]
) -> Verdict | None:
    """Return the first verdict of the side that more than half are on; None if there is none.

    Args:
        verdicts: None for one that is lost or not given: it counts for no side.
        side: returns the side that a verdict is on.
    """
    sides = _sides(verdicts, side)
    won = winner(sides)
    return None if won is None else verdicts[sides.index(won)]


def is_settled(
    verdicts: Sequence[Verdict | None], side: Callable[[Verdict], V | None], left: int
) -> bool:
    """Whether nothing can change any more which side wins, with `left` verdicts still to come."""
    counts = Counter(one for one in _sides(verdicts, side) if one is not None)
    leader = max(counts.values(), default=0)
    wanted = len(verdicts) + left
    return leader * 2 > wanted or (leader + left) * 2 <= wanted


def _sides(
    verdicts: Sequence[Verdict | None], side: Callable[[Verdict], V | None]
) -> list[V | None]:
    return [None if one is None else side(one) for one in verdicts]

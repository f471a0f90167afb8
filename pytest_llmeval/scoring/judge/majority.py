"""More than half of several votes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import TypeVar

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


def is_settled(votes: Sequence[V | None], left: int) -> bool:
    """Whether nothing can change any more who wins, with `left` votes still to be cast."""
    counts = Counter(vote for vote in votes if vote is not None)
    leader = max(counts.values(), default=0)
    wanted = len(votes) + left
    return leader * 2 > wanted or (leader + left) * 2 <= wanted

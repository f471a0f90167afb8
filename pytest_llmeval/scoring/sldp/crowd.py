"""Many vectors that lie close together, in a tree of boxes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from pytest_llmeval.scoring.sldp.tolerance import Tolerance, Vector

FEW: Final = 16
"""Up to this number of vectors are compared one by one."""


@dataclass(frozen=True, slots=True)
class Crowd:
    """A box around some vectors, halved until only a few are left.

    A search passes over a box that lies too far away in any coordinate, with all that is in it.

    Attributes:
        low: the least value of each coordinate.
        high: the greatest value of each coordinate.
        members: indices of the vectors; empty in a box that is halved.
        halves: the two boxes inside, or none.
    """

    low: Vector
    high: Vector
    members: Sequence[int]
    halves: tuple[Crowd, ...] = ()

    @classmethod
    def of(cls, vectors: Sequence[Vector], members: Sequence[int]) -> Crowd:
        """Return the tree of the vectors with these indices, halved along their longest side."""
        columns = list(zip(*(vectors[member] for member in members), strict=True))
        low, high = tuple(map(min, columns)), tuple(map(max, columns))
        if len(members) <= FEW:
            return cls(low, high, members)
        sides = [float(most) - float(least) for least, most in zip(low, high, strict=True)]
        axis = sides.index(max(sides))
        ordered = sorted(members, key=lambda member: vectors[member][axis])
        middle = len(ordered) // 2
        return cls(
            low, high, (), (cls.of(vectors, ordered[:middle]), cls.of(vectors, ordered[middle:]))
        )

    def around(self, vector: Vector, tolerance: Tolerance) -> Iterator[Sequence[int]]:
        """Yield the members of each box that may hold a vector equal to this one.

        Nothing is yielded for a box that is halved, so that its visit can be counted.
        """
        waiting = [self]
        while waiting:
            box = waiting.pop()
            if all(map(tolerance.reaches, vector, box.low, box.high)):
                waiting.extend(box.halves)
                yield box.members
            else:
                yield ()

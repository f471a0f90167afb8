"""A grid that finds vectors within a tolerance of each other fast."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from itertools import product
from typing import TypeAlias

from pytest_llmeval.scoring.sldp.crowd import FEW, Crowd
from pytest_llmeval.scoring.sldp.tolerance import EXACT, Tolerance, Vector

Cell: TypeAlias = tuple[int, ...]

_AXES = 3
"""Most coordinates that a grid uses: enough for points; each further one triples the cells to
search."""

_SAFE = 2.0**40
"""Cell numbers up to which a double is exact enough: its error stays below the slack."""

_SLACK = Decimal("0.001")
"""Cells that a search covers beyond the tolerance."""

_SMALLEST = Decimal("1e-6")
"""Width of a cell when the tolerance is zero; any width is correct."""


class Grid:
    """Two groups of equally long vectors, sorted into cells so that equal ones are found fast.

    Cells are one tolerance wide: vectors in one cell are equal in its coordinates, and those equal
    to one lie in its cell or in an adjacent one. A crowd in a cell is searched by boxes.
    """

    def __init__(
        self,
        left: Sequence[Vector],
        right: Sequence[Vector],
        tolerance: Tolerance,
        spend: Callable[[int], None],
    ) -> None:
        """Sort both groups into cells, by the most discriminating coordinates.

        `spend` is told the number of vectors and boxes that are looked at.
        """
        self._tolerance, self._spend = tolerance, spend
        self._width = tolerance.size or _SMALLEST
        self._scale = 1 / float(self._width)
        self._reach = EXACT.fma(self._width, _SLACK, tolerance.size)
        self._vectors = (left, right)
        self._axes = self._discriminating_axes() if len(left) * len(right) > FEW else ()
        self._cells = [[self._place(vector) for vector in side] for side in self._vectors]
        self._members = [_by_cell(cells) for cells in self._cells]
        self._crowds: tuple[dict[Cell, Crowd], dict[Cell, Crowd]] = ({}, {})

    def near(self, side: int, index: int) -> Iterator[int]:
        """Yield the indices of equal vectors on the other side, those in the same cell first.

        Args:
            side: the group of the vector: 0 is left, 1 is right.
            index: its index in that group.
        """
        vector, own = self._vectors[side][index], self._cells[side][index]
        others, members_of = self._vectors[1 - side], self._members[1 - side]
        for cell in self._around(vector, own):
            if cell not in members_of:
                continue
            for members in self._likely(1 - side, cell, vector):
                self._spend(len(members) + 1)
                for candidate in members:
                    if self._tolerance.all_near(vector, others[candidate]):
                        yield candidate

    def _likely(self, side: int, cell: Cell, vector: Vector) -> Iterator[Sequence[int]]:
        """Yield the members of a cell of one side, without those that are clearly too far away."""
        members = self._members[side][cell]
        if len(members) <= FEW:
            yield members
            return
        crowds = self._crowds[side]
        if cell not in crowds:
            crowds[cell] = Crowd.of(self._vectors[side], members)
        yield from crowds[cell].around(vector, self._tolerance)

    def _around(self, vector: Vector, own: Cell) -> Iterator[Cell]:
        yield own
        ranges = []
        for axis in self._axes:
            low = self._cell(EXACT.subtract(vector[axis], self._reach))
            high = self._cell(EXACT.add(vector[axis], self._reach))
            ranges.append(range(low, high + 1))
        for cell in product(*ranges):
            if cell != own:
                yield cell

    def _discriminating_axes(self) -> Sequence[int]:
        """Return the coordinates by which the left group falls into most cells."""
        vectors = self._vectors[0]
        axes = range(len(vectors[0]))
        if len(axes) <= _AXES:
            return axes
        return sorted(
            axes, key=lambda axis: -len({self._cell(vector[axis]) for vector in vectors})
        )[:_AXES]

    def _place(self, vector: Vector) -> Cell:
        return tuple([self._cell(vector[axis]) for axis in self._axes])

    def _cell(self, number: Decimal) -> int:
        """Return the number of the cell; monotonic in `number`, as a search needs."""
        place = float(number) * self._scale
        if -_SAFE < place < _SAFE:
            return int(place)
        return int(EXACT.divide_int(number, self._width))


def _by_cell(cells: Sequence[Cell]) -> dict[Cell, list[int]]:
    members: dict[Cell, list[int]] = {}
    for index, cell in enumerate(cells):
        members.setdefault(cell, []).append(index)
    return members

"""Profiles of values: cheap necessary conditions of equality, by which sets choose likely pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from itertools import chain, islice
from typing import NamedTuple, TypeAlias

from pytest_llmeval.scoring.sldp.tolerance import Vector
from pytest_llmeval.scoring.sldp.values import (
    Container,
    DictValue,
    ListValue,
    NumberValue,
    PointValue,
    SetValue,
    StringValue,
    Value,
)

Skeleton: TypeAlias = int | str
"""Identifies a value's structure without its numbers; that of a string is its folded text."""

_LONGEST = 8
"""Most numbers of a value in its profile; on nested values, more would cost more than they save."""


class _Profile(NamedTuple):
    skeleton: Skeleton
    vector: Vector


class Profiles:
    """The profiles of the values of one comparison.

    Equal values have the same skeleton, and vectors within the tolerance of each other. Values are
    identified by `id`, so they must live as long as this object.
    """

    def __init__(self, fold: Callable[[str], str]) -> None:
        """Use `fold`, which maps equal strings to the same text."""
        self._fold = fold
        self._skeletons: dict[object, int] = {}
        self._known: dict[int, _Profile] = {}

    def skeleton(self, value: Value) -> Skeleton:
        """Return a value's structure: 0 for numbers, below 0 for points, above 0 for containers."""
        if isinstance(value, StringValue):
            return self._fold(value.text)
        if isinstance(value, NumberValue):
            return 0
        if isinstance(value, PointValue):
            return -len(value.coordinates)
        return self._of(value).skeleton

    def vector(self, value: Value) -> Vector:
        """Return numbers of a value; values of one skeleton have equally many, strings none."""
        if isinstance(value, StringValue):
            return ()
        if isinstance(value, NumberValue):
            return (value.number,)
        if isinstance(value, PointValue):
            return value.coordinates
        return self._of(value).vector

    def _of(self, value: Container) -> _Profile:
        if id(value) not in self._known:
            for container in reversed(self._unknown(value)):
                self._known[id(container)] = self._profile(container)
        return self._known[id(value)]

    def _unknown(self, root: Container) -> list[Container]:
        """Return the containers without a profile, each before those inside it."""
        found, waiting = [], [root]
        while waiting:
            container = waiting.pop()
            found.append(container)
            inside = (
                [item for _, item in container.entries]
                if isinstance(container, DictValue)
                else container.elements
            )
            waiting += [
                item
                for item in inside
                if isinstance(item, ListValue | SetValue | DictValue)
                and id(item) not in self._known
            ]
        return found

    def _profile(self, container: Container) -> _Profile:
        match container:
            case ListValue():
                return self._row("list", container.elements)
            case SetValue():
                parts = (
                    _Profile(self.skeleton(element), self.vector(element))
                    for element in container.elements
                )
                return self._gathered("set", parts)
            case DictValue():
                return self._gathered(
                    "dict", (self._row("entry", entry) for entry in container.entries)
                )

    def _row(self, kind: str, values: Sequence[Value]) -> _Profile:
        skeleton = self._named((kind, *map(self.skeleton, values)))
        return _Profile(skeleton, _first(map(self.vector, values)))

    def _gathered(self, kind: str, parts: Iterable[_Profile]) -> _Profile:
        """Return a profile that ignores order and repetition of the parts.

        It has each structure once, and minimum and maximum of each coordinate. If every part has
        an equal one on the other side, these are within the tolerance as well.
        """
        groups: dict[Skeleton, list[Vector]] = {}
        for part in parts:
            groups.setdefault(part.skeleton, []).append(part.vector)
        numeric = sorted(skeleton for skeleton in groups if isinstance(skeleton, int))
        columns = [
            column for skeleton in numeric for column in zip(*groups[skeleton], strict=True)
        ][:_LONGEST]
        return _Profile(
            self._named((kind, frozenset(groups))), _first((map(min, columns), map(max, columns)))
        )

    def _named(self, structure: object) -> int:
        return self._skeletons.setdefault(structure, len(self._skeletons) + 1)


def _first(vectors: Iterable[Iterable[Decimal]]) -> Vector:
    return tuple(islice(chain.from_iterable(vectors), _LONGEST))

"""A question with its query and its solution computed in Python, before the query has run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import Any, Final, TypeAlias, TypeVar

from pytest_llmeval.domains.heracles.questions.property_graph import Position

Scalar: TypeAlias = str | int | float | Position
Answer: TypeAlias = Scalar | AbstractSet[Scalar] | Sequence[Scalar] | Mapping[Any, Scalar]
"""A solution in Python: numbers, texts and points; sets, lists and dicts of them."""

MARGIN: Final = 0.02
"""Least difference of ranked values, in their unit: five times what rounded answers may be off."""
_RELATIVE_MARGIN: Final = 0.005
"""The same as a share of the values: engines differ a little in distances on the earth."""
MOST_ELEMENTS: Final = 20
"""Most elements of a solution."""

T = TypeVar("T")


class UnfitError(Exception):
    """What was drawn makes no good question; the text is the reason, short and without names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A proposed question."""

    name: str
    question: str
    cypher: str
    answer: Answer
    tags: tuple[str, ...]


class Dice:
    """Seeded choices that spread: what was chosen seldom so far is chosen first."""

    def __init__(self, seed: int) -> None:
        """Begin; the same seed and questions give the same choices."""
        self._random = Random(seed)  # noqa: S311 - nothing secret
        self._chosen: Counter[Hashable] = Counter()

    def pick(self, options: Iterable[T], what: str, key: Callable[[T], Hashable]) -> T:
        """Return one of the options; UnfitError when there are none.

        Args:
            options: what to choose from, in a fixed order.
            what: the name of what is chosen, in the plural.
            key: what of an option is counted.
        """
        found = [*options]
        if not found:
            msg = f"the graph has no {what}"
            raise UnfitError(msg)
        counts = [self._chosen.get((what, key(one)), 0) for one in found]
        least = min(counts)
        seldom = [one for one, count in zip(found, counts, strict=True) if count == least]
        chosen = self._random.choice(seldom)
        self._chosen[what, key(chosen)] += 1
        return chosen

    def flip(self) -> bool:
        """Return yes or no."""
        return self._random.random() < 1 / 2


def ranked(
    items: Iterable[T],
    key: Callable[[T], float],
    *,
    descending: bool = False,
    first: int | None = None,
) -> list[T]:
    """Return the items in order, or the `first` of them.

    Raises:
        UnfitError: there are less than two, or neighbours among those returned, or the last of them
            and the next one, are nearly equal.
    """
    ordered = sorted(items, key=key, reverse=descending)
    if len(ordered) < 2:  # noqa: PLR2004 - a rank of one is no question
        msg = "fewer than two to choose from"
        raise UnfitError(msg)
    for one, other in pairwise(ordered if first is None else ordered[: first + 1]):
        if not apart(key(one), key(other)):
            msg = "a tie, or nearly one"
            raise UnfitError(msg)
    return ordered[:first]


def apart(one: float, other: float) -> bool:
    """Return whether two values differ by more than the margin."""
    return abs(one - other) >= max(MARGIN, _RELATIVE_MARGIN * max(abs(one), abs(other)))


def limit_between(values: Iterable[float], dice: Dice, *, least: int, most: int) -> float:
    """Return a limit with `least` to `most` values below it, and none near it.

    It is a whole number or has one digit after the point, as people would ask.
    """
    ordered = sorted(values)
    limits = []
    for below in range(least, min(most, len(ordered) - 1) + 1):
        lower, upper = ordered[below - 1], ordered[below]
        limit = round((lower + upper) / 2, 1)
        if lower < limit < upper and apart(lower, limit) and apart(limit, upper):
            limits.append(int(limit) if limit.is_integer() else limit)
    return dice.pick(limits, "limits without a value nearby", key=lambda _: 0)

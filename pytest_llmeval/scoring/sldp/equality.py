"""Equality of SLDP values as answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Generator, Sequence
from typing import TypeAlias, TypeVar

from pytest_llmeval.scoring.sldp.parser import parse_sldp
from pytest_llmeval.scoring.sldp.profile import Profiles, Skeleton
from pytest_llmeval.scoring.sldp.proximity import Grid
from pytest_llmeval.scoring.sldp.tolerance import Tolerance
from pytest_llmeval.scoring.sldp.values import (
    DictValue,
    ListValue,
    NumberValue,
    PointValue,
    SetValue,
    StringValue,
    Value,
)

SLDP_GRADER = "sldp/1"
"""Version of these rules; scores by different versions are not compared."""

TOLERANCE = 0.01
"""Numbers are equal when they differ by less than this, in the unit of the data set (the published
default)."""

MOST_STEPS = 5_000_000
"""Comparisons of two numbers, strings or boxes that one pair of values may take; equal answers of
100,000 elements take a fifth of them at most."""


class TooCostlyError(ValueError):
    """Comparing two values takes more than `MOST_STEPS` steps."""


Groups: TypeAlias = dict[Skeleton, list[Value]]
Unmatched: TypeAlias = tuple[list[Value], list[Value]]
"""The elements of two sets without an equal on the other side."""

T = TypeVar("T")
Search: TypeAlias = Generator[tuple[Value, Value], bool | None, T]
"""A computation that yields pairs of containers and is sent whether each pair is equal."""


def sldp_equals(
    answer: str | Value,
    solution: str | Value,
    *,
    tolerance: float = TOLERANCE,
    case_sensitive: bool = False,
) -> bool:
    """Return whether an answer equals the solution.

    Sets are equal when every element of each equals one of the other.

    Args:
        answer: SLDP text, or a parsed value.
        solution: likewise.
        tolerance: numbers, also in points and as keys, are equal when they differ by less.
        case_sensitive: whether strings of different case differ. Blanks around a string never
            count.

    Raises:
        SldpSyntaxError: a text is not valid SLDP.
        TooCostlyError: the values are made to take quadratic time.
        ValueError: the tolerance is negative, infinite or NaN.

    Example:
        >>> sldp_equals("<O1, 2>", "<2.001, o1>")
        True
    """
    left, right = parsed(answer), parsed(solution)
    return Comparator(tolerance=tolerance, case_sensitive=case_sensitive).equal(left, right)


def parsed(text: str | Value) -> Value:
    """Return the value of a text; a value is returned as it is."""
    return parse_sldp(text) if isinstance(text, str) else text


class Comparator:
    """Compares values by one tolerance and one rule for case, and caches the results.

    Values are identified by `id`, so they must live as long as this object.
    """

    def __init__(self, *, tolerance: float, case_sensitive: bool) -> None:
        """Create a comparator; the arguments are those of `sldp_equals`."""
        self._tolerance = Tolerance(tolerance)
        self._fold: Callable[[str], str] = str.strip if case_sensitive else _folded
        self._profiles = Profiles(self._fold)
        self._results: dict[tuple[int, int], bool] = {}
        self._groups: dict[int, Groups] = {}
        self._pairs: dict[int, SetValue] = {}
        self.steps = 0

    def equal(self, left: Value, right: Value) -> bool:
        """Return whether two values are equal."""
        return self._run(self._compare(left, right))

    def unmatched(self, left: SetValue, right: SetValue) -> Unmatched:
        """Return the elements of the left set only, and those of the right set only."""
        return self._run(self._unmatched(self._grouped(left), self._grouped(right)))

    def names(self, value: DictValue) -> dict[str, tuple[StringValue, Value]] | None:
        """Return a dict's entries by folded key; None if a key is a number or repeated."""
        names = {
            self._fold(key.text): (key, item)
            for key, item in value.entries
            if isinstance(key, StringValue)
        }
        return names if len(names) == len(value.entries) else None

    def pairs(self, value: DictValue) -> SetValue:
        """Return a dict as the set of its entries, each a list of key and value."""
        entries = (ListValue(elements=entry) for entry in value.entries)
        return self._pairs.setdefault(id(value), SetValue(elements=tuple(entries)))

    def _spend(self, steps: int) -> None:
        """Count steps of the comparison."""
        self.steps += steps
        if self.steps > MOST_STEPS:
            msg = f"comparing the two takes more than {MOST_STEPS:,} steps"
            raise TooCostlyError(msg)

    def _run(self, search: Search[T]) -> T:
        """Return the result of a search, with an explicit stack: values may be nested deeply."""
        stack: list[Search[T] | Search[bool]] = [search]
        equal: bool | None = None
        while True:
            try:
                pair = stack[-1].send(equal)
            except StopIteration as ended:
                stack.pop()
                if not stack:
                    result: T = ended.value
                    return result
                equal = ended.value
            else:
                equal = self._results.get((id(pair[0]), id(pair[1])))
                if equal is None:
                    stack.append(self._compare(*pair))

    def _compare(self, left: Value, right: Value) -> Search[bool]:
        equal = self._leaves(left, right)
        if equal is not None:
            return equal
        if isinstance(left, ListValue) and isinstance(right, ListValue):
            equal = yield from self._lists(left.elements, right.elements)
        elif isinstance(left, DictValue) and isinstance(right, DictValue):
            equal = yield from self._dicts(left, right)
        elif isinstance(left, SetValue) and isinstance(right, SetValue):
            equal = yield from self._sets(left, right)
        else:
            equal = False
        self._results[id(left), id(right)] = equal
        return equal

    def _leaves(self, left: Value, right: Value) -> bool | None:
        """Compare numbers, strings and points; None when both values are containers."""
        if isinstance(left, NumberValue):
            return isinstance(right, NumberValue) and self._tolerance.near(
                left.number, right.number
            )
        if isinstance(left, StringValue):
            return isinstance(right, StringValue) and self._fold(left.text) == self._fold(
                right.text
            )
        if isinstance(left, PointValue):
            return isinstance(right, PointValue) and self._tolerance.all_near(
                left.coordinates, right.coordinates
            )
        return False if isinstance(right, NumberValue | StringValue | PointValue) else None

    def _lists(self, left: Sequence[Value], right: Sequence[Value]) -> Search[bool]:
        if len(left) != len(right):
            return False
        for compared, pair in enumerate(zip(left, right, strict=True), 1):
            equal = self._leaves(*pair)
            if equal is None:
                equal = yield pair
            if not equal:
                self._spend(compared)
                return False
        self._spend(len(left))
        return True

    def _dicts(self, left: DictValue, right: DictValue) -> Search[bool]:
        """Compare by key where all keys are distinct strings, else as sets of entries."""
        self._spend(len(left.entries) + len(right.entries))
        ours, theirs = self.names(left), self.names(right)
        if ours is None or theirs is None:
            return bool((yield self.pairs(left), self.pairs(right)))
        if ours.keys() != theirs.keys():
            return False
        items = [item for _, item in ours.values()]
        return (yield from self._lists(items, [theirs[name][1] for name in ours]))

    def _sets(self, left: SetValue, right: SetValue) -> Search[bool]:
        ours, theirs = self._grouped(left), self._grouped(right)
        if ours.keys() != theirs.keys():
            return False
        return not any((yield from self._unmatched(ours, theirs, enough=1)))

    def _grouped(self, value: SetValue) -> Groups:
        """Return a set's elements by skeleton: elements of different skeletons are not equal."""
        groups = self._groups.get(id(value))
        if groups is None:
            groups = self._groups[id(value)] = defaultdict(list)
            for element in value.elements:
                groups[self._profiles.skeleton(element)].append(element)
        return groups

    def _unmatched(
        self, left: Groups, right: Groups, *, enough: int | None = None
    ) -> Search[Unmatched]:
        """Return the elements without an equal on the other side, all or at least `enough`."""
        found: Unmatched = ([], [])
        self._spend(len(left) + len(right))
        for skeleton in {**left, **right}:
            ours, theirs = left.get(skeleton, []), right.get(skeleton, [])
            if not ours or not theirs:
                found[0].extend(ours)
                found[1].extend(theirs)
            elif skeleton == 0:
                self._add_unmatched_numbers(found, ours, theirs)
            elif self._profiles.vector(ours[0]):
                yield from self._add_unmatched_vectors(found, ours, theirs, enough=enough)
            if enough is not None and len(found[0]) + len(found[1]) >= enough:
                break
        return found

    def _add_unmatched_numbers(
        self, found: Unmatched, left: Sequence[Value], right: Sequence[Value]
    ) -> None:
        ours, theirs = (
            sorted(element.number for element in side if isinstance(element, NumberValue))
            for side in (left, right)
        )
        for side, numbers, others in ((found[0], ours, theirs), (found[1], theirs, ours)):
            unmatched = self._tolerance.unmatched(numbers, others)
            side.extend(NumberValue(number=number) for number in unmatched)

    def _add_unmatched_vectors(
        self, found: Unmatched, left: Sequence[Value], right: Sequence[Value], *, enough: int | None
    ) -> Search[None]:
        if len(left) == len(right) == 1:
            # Small sets, of which there may be thousands, need no grid.
            pair = (left[0], right[0])
            equal = self._leaves(*pair)
            if equal is None:
                equal = yield pair
            if not equal:
                found[0].extend(left)
                found[1].extend(right)
            return
        sides = (left, right)
        ours, theirs = ([self._profiles.vector(element) for element in side] for side in sides)
        grid = Grid(ours, theirs, self._tolerance, self._spend)
        for side in (0, 1):
            for index, element in enumerate(sides[side]):
                for candidate in grid.near(side, index):
                    other = sides[1 - side][candidate]
                    pair = (other, element) if side else (element, other)
                    if isinstance(element, PointValue) or (yield pair):
                        break
                else:
                    found[side].append(element)
                    if enough is not None and len(found[side]) >= enough:
                        return


def _folded(text: str) -> str:
    return text.strip().casefold()

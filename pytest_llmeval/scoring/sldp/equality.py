"""When two SLDP values are the same answer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Generator, Sequence
from typing import TypeAlias, TypeVar

from pytest_llmeval.scoring.sldp.parser import parse_sldp
from pytest_llmeval.scoring.sldp.profile import Profiles, Skeleton
from pytest_llmeval.scoring.sldp.proximity import Grid, Tolerance
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
"""Version of these rules; results that were decided by different versions are not compared."""

TOLERANCE = 0.01
"""Two numbers are equal when they differ by less than this, in the unit of the data set (the
published default)."""

Groups: TypeAlias = dict[Skeleton, list[Value]]
Lonely: TypeAlias = tuple[list[Value], list[Value]]
"""The values of two sets that have no equal on the other side."""

Result = TypeVar("Result")
Question: TypeAlias = Generator[tuple[Value, Value], bool | None, Result]
"""A computation that asks for pairs of containers to be compared on its way."""


def sldp_equals(
    answer: str | Value,
    solution: str | Value,
    *,
    tolerance: float = TOLERANCE,
    case_sensitive: bool = False,
) -> bool:
    """Say whether an answer equals the solution; both as SLDP text or parsed.

    Numbers, also as coordinates and keys, are equal when they differ by less than `tolerance`.
    Strings are compared without blanks around them and, unless `case_sensitive`, without regard to
    case. Sets are equal when every element of each equals one of the other. Raises SldpSyntaxError
    when a text is no SLDP, ValueError for a bad tolerance.
    """
    left, right = parsed(answer), parsed(solution)
    return Comparison(tolerance=tolerance, case_sensitive=case_sensitive).equal(left, right)


def parsed(text: str | Value) -> Value:
    """Return the value itself, or the one that the text stands for."""
    return parse_sldp(text) if isinstance(text, str) else text


class Comparison:
    """Compares values by one tolerance and one rule for case, and remembers what it found.

    It knows values by identity, so whoever compares must keep them for as long.
    """

    def __init__(self, *, tolerance: float, case_sensitive: bool) -> None:
        """Take the two rules that a task may set."""
        self._tolerance = Tolerance(tolerance)
        self._fold: Callable[[str], str] = str.strip if case_sensitive else _folded
        self._profiles = Profiles(self._fold)
        self._verdicts: dict[tuple[int, int], bool] = {}
        self._groups: dict[int, Groups] = {}
        self._pairs: dict[int, SetValue] = {}

    def equal(self, left: Value, right: Value) -> bool:
        """Say whether two values are equal."""
        return self._run(self._compare(left, right))

    def unmatched(self, left: SetValue, right: SetValue) -> Lonely:
        """Return what only the left set holds, and what only the right one does."""
        return self._run(self._lonely(self._grouped(left), self._grouped(right)))

    def names(self, value: DictValue) -> dict[str, tuple[StringValue, Value]] | None:
        """Return a dict's entries by folded key; None when a number or two equal strings are among its keys."""
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

    def _run(self, question: Question[Result]) -> Result:
        """Answer a question with a stack of our own, so that nesting is not bounded by Python's."""
        stack: list[Question[Result] | Question[bool]] = [question]
        verdict: bool | None = None
        while True:
            try:
                pair = stack[-1].send(verdict)
            except StopIteration as ended:
                stack.pop()
                if not stack:
                    result: Result = ended.value
                    return result
                verdict = ended.value
            else:
                verdict = self._verdicts.get((id(pair[0]), id(pair[1])))
                if verdict is None:
                    stack.append(self._compare(*pair))

    def _compare(self, left: Value, right: Value) -> Question[bool]:
        verdict = self._leaves(left, right)
        if verdict is not None:
            return verdict
        if isinstance(left, ListValue) and isinstance(right, ListValue):
            verdict = yield from self._lists(left.elements, right.elements)
        elif isinstance(left, DictValue) and isinstance(right, DictValue):
            verdict = yield from self._dicts(left, right)
        elif isinstance(left, SetValue) and isinstance(right, SetValue):
            verdict = yield from self._sets(left, right)
        else:
            verdict = False
        self._verdicts[id(left), id(right)] = verdict
        return verdict

    def _leaves(self, left: Value, right: Value) -> bool | None:
        """Compare what holds no other values; None when both are containers."""
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

    def _lists(self, left: Sequence[Value], right: Sequence[Value]) -> Question[bool]:
        if len(left) != len(right):
            return False
        for pair in zip(left, right, strict=True):
            verdict = self._leaves(*pair)
            if verdict is None:
                verdict = yield pair
            if not verdict:
                return False
        return True

    def _dicts(self, left: DictValue, right: DictValue) -> Question[bool]:
        """Compare by name where the names are clear, else as sets of entries, which then means the same."""
        ours, theirs = self.names(left), self.names(right)
        if ours is None or theirs is None:
            return bool((yield self.pairs(left), self.pairs(right)))
        if ours.keys() != theirs.keys():
            return False
        return (
            yield from self._lists(
                [item for _, item in ours.values()], [theirs[name][1] for name in ours]
            )
        )

    def _sets(self, left: SetValue, right: SetValue) -> Question[bool]:
        ours, theirs = self._grouped(left), self._grouped(right)
        if ours.keys() != theirs.keys():
            return False
        return not any((yield from self._lonely(ours, theirs, enough=1)))

    def _grouped(self, value: SetValue) -> Groups:
        """Sort a set's elements by skeleton: only within one can they equal each other."""
        groups = self._groups.get(id(value))
        if groups is None:
            groups = self._groups[id(value)] = defaultdict(list)
            for element in value.elements:
                groups[self._profiles.skeleton(element)].append(element)
        return groups

    def _lonely(
        self, left: Groups, right: Groups, *, enough: int | None = None
    ) -> Question[Lonely]:
        """Find the elements without an equal on the other side, all or at least `enough` of them."""
        lonely: Lonely = ([], [])
        for skeleton in {**left, **right}:
            ours, theirs = left.get(skeleton, []), right.get(skeleton, [])
            if not ours or not theirs:
                lonely[0].extend(ours)
                lonely[1].extend(theirs)
            elif skeleton == 0:
                self._add_lonely_numbers(lonely, ours, theirs)
            elif self._profiles.vector(ours[0]):
                yield from self._add_lonely_vectors(lonely, ours, theirs, enough=enough)
            if enough is not None and len(lonely[0]) + len(lonely[1]) >= enough:
                break
        return lonely

    def _add_lonely_numbers(
        self, lonely: Lonely, left: Sequence[Value], right: Sequence[Value]
    ) -> None:
        ours, theirs = (
            sorted(element.number for element in side if isinstance(element, NumberValue))
            for side in (left, right)
        )
        lonely[0].extend(
            NumberValue(number=number) for number in self._tolerance.lonely(ours, theirs)
        )
        lonely[1].extend(
            NumberValue(number=number) for number in self._tolerance.lonely(theirs, ours)
        )

    def _add_lonely_vectors(
        self, lonely: Lonely, left: Sequence[Value], right: Sequence[Value], *, enough: int | None
    ) -> Question[None]:
        if len(left) == len(right) == 1:
            # Sets of few elements, of which there may be thousands, need no grid.
            pair = (left[0], right[0])
            verdict = self._leaves(*pair)
            if verdict is None:
                verdict = yield pair
            if not verdict:
                lonely[0].extend(left)
                lonely[1].extend(right)
            return
        sides = (left, right)
        ours, theirs = ([self._profiles.vector(element) for element in side] for side in sides)
        grid = Grid(ours, theirs, self._tolerance)
        for side in (0, 1):
            for index, element in enumerate(sides[side]):
                for candidate in grid.near(side, index):
                    other = sides[1 - side][candidate]
                    pair = (other, element) if side else (element, other)
                    if isinstance(element, PointValue) or (yield pair):
                        break
                else:
                    lonely[side].append(element)
                    if enough is not None and len(lonely[side]) >= enough:
                        return


def _folded(text: str) -> str:
    return text.strip().casefold()

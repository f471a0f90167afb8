"""The differences between two SLDP values, in at most ten lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from pytest_llmeval.scoring.listed import changes, short
from pytest_llmeval.scoring.sldp.equality import TOLERANCE, Comparator, parsed
from pytest_llmeval.scoring.sldp.values import (
    DictValue,
    ListValue,
    NumberValue,
    PointValue,
    SetValue,
    StringValue,
    Value,
)

LINES = 10
"""Most lines of a difference; the last one says if there are more."""

_SOME_ELEMENT = "<..>"
"""The step of a path into a set, whose elements have no position."""

_KINDS = {
    NumberValue: "number",
    StringValue: "string",
    PointValue: "point",
    ListValue: "list",
    SetValue: "set",
    DictValue: "dict",
}


class _Pair(NamedTuple):
    """Two values at the same path."""

    path: str
    answer: Value
    solution: Value


class _Differences(NamedTuple):
    """Lines for a pair's own differences, without its path, and the pairs inside to compare."""

    lines: Sequence[str] = ()
    inside: Sequence[_Pair] = ()


def sldp_diff(
    answer: str | Value,
    solution: str | Value,
    *,
    tolerance: float = TOLERANCE,
    case_sensitive: bool = False,
) -> tuple[str, ...]:
    """Return the differences between an answer and the solution; empty when they are equal.

    There are at most ten lines, each with a path from the root ``$`` through keys (``.rooms``),
    list positions (``[0]``) and sets (``<..>``). Arguments and errors are those of `sldp_equals`.

    Example:
        >>> sldp_diff("{rooms: <O256, O1>}", "{rooms: <O255, O1>}")
        ('$.rooms<..>: missing O255; unexpected O256',)
    """
    comparator = Comparator(tolerance=tolerance, case_sensitive=case_sensitive)
    root = _Pair("$", parsed(answer), parsed(solution))
    lines = list(islice(_lines(comparator, root), LINES + 1))
    return tuple(lines if len(lines) <= LINES else [*lines[: LINES - 1], "and more differences"])


def _lines(comparator: Comparator, root: _Pair) -> Iterator[str]:
    """Yield a line for each difference, in reading order, without recursion."""
    waiting = [root]
    while waiting:
        pair = waiting.pop()
        if comparator.equal(pair.answer, pair.solution):
            continue
        found = _differences(comparator, pair)
        yield from (f"{short(pair.path)}{line}" for line in found.lines)
        waiting += reversed(found.inside)


def _differences(comparator: Comparator, pair: _Pair) -> _Differences:
    path, answer, solution = pair
    if isinstance(answer, ListValue) and isinstance(solution, ListValue):
        return _lists(path, answer, solution)
    if isinstance(answer, SetValue) and isinstance(solution, SetValue):
        return _sets(comparator, path, answer, solution)
    if isinstance(answer, DictValue) and isinstance(solution, DictValue):
        return _dicts(comparator, path, answer, solution)
    found, expected = short(str(answer)), short(str(solution))
    if type(answer) is not type(solution):
        found = f"{_KINDS[type(answer)]} {found}"
        expected = f"{_KINDS[type(solution)]} {expected}"
    return _Differences([f": found {found}, expected {expected}"])


def _lists(path: str, answer: ListValue, solution: ListValue) -> _Differences:
    pairs = enumerate(zip(answer.elements, solution.elements, strict=False))
    inside = [_Pair(f"{path}[{index}]", ours, theirs) for index, (ours, theirs) in pairs]
    found, expected = len(answer.elements), len(solution.elements)
    lines = [f": found length {found}, expected {expected}"] if found != expected else ()
    return _Differences(lines, inside)


def _sets(comparator: Comparator, path: str, answer: SetValue, solution: SetValue) -> _Differences:
    """Return what is missing and unexpected; of a single pair of like containers, the inside."""
    unexpected, missing = comparator.unmatched(answer, solution)
    if len(unexpected) == len(missing) == 1:
        ours, theirs = unexpected[0], missing[0]
        if type(ours) is type(theirs) and isinstance(ours, ListValue | SetValue | DictValue):
            return _Differences(inside=[_Pair(path + _SOME_ELEMENT, ours, theirs)])
    return _Differences([f"{_SOME_ELEMENT}: {changes(missing, unexpected)}"])


def _dicts(
    comparator: Comparator, path: str, answer: DictValue, solution: DictValue
) -> _Differences:
    ours, theirs = comparator.names(answer), comparator.names(solution)
    if ours is None or theirs is None:
        sides = comparator.unmatched(comparator.pairs(answer), comparator.pairs(solution))
        unexpected_entries, missing_entries = ([_entry(pair) for pair in side] for side in sides)
        return _Differences([f": {changes(missing_entries, unexpected_entries)}"])
    missing = [key for name, (key, _) in theirs.items() if name not in ours]
    unexpected = [key for name, (key, _) in ours.items() if name not in theirs]
    inside = [
        _Pair(f"{path}.{key}", ours[name][1], item)
        for name, (key, item) in theirs.items()
        if name in ours
    ]
    return _Differences(
        [f": {changes(missing, unexpected)}"] if missing or unexpected else (), inside
    )


def _entry(pair: Value) -> str:
    return ": ".join(map(str, pair.elements)) if isinstance(pair, ListValue) else str(pair)

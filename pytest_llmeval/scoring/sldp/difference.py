"""Where two SLDP values differ, in a few lines that a person can act on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from pytest_llmeval.scoring.sldp.equality import TOLERANCE, Comparison, parsed
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
"""How many lines a difference has at most; the last then says that there is more."""

_LISTED = 5
"""Missing or unexpected elements that one line names; the rest is counted."""

_LONGEST = 60
"""Signs of one value, or of one path, that a line shows."""

_KINDS = {
    NumberValue: "number",
    StringValue: "string",
    PointValue: "point",
    ListValue: "list",
    SetValue: "set",
    DictValue: "dict",
}


_EACH = "<..>"
"""The path of what stands in a set: somewhere in it."""


class _Place(NamedTuple):
    """Two values that stand at the same path."""

    path: str
    answer: Value
    solution: Value


def sldp_diff(
    answer: str | Value,
    solution: str | Value,
    *,
    tolerance: float = TOLERANCE,
    case_sensitive: bool = False,
) -> tuple[str, ...]:
    """Return where an answer differs from the solution; nothing when they are equal.

    At most ten lines, each with a path from the root ``$`` through keys (``.rooms``), list
    positions (``[0]``) and sets (``<..>``): ``$.rooms<..>: missing O255; unexpected O256``.
    Arguments and errors are those of `sldp_equals`.
    """
    comparison = Comparison(tolerance=tolerance, case_sensitive=case_sensitive)
    lines = list(
        islice(_lines(comparison, _Place("$", parsed(answer), parsed(solution))), LINES + 1)
    )
    return tuple(lines if len(lines) <= LINES else [*lines[: LINES - 1], "and more differences"])


def _lines(comparison: Comparison, root: _Place) -> Iterator[str]:
    """Yield a line for each difference, in reading order, with a stack of our own: nesting may be deep."""
    waiting = [root]
    while waiting:
        place = waiting.pop()
        if comparison.equal(place.answer, place.solution):
            continue
        found = _found(comparison, place)
        yield from (f"{_short(place.path)}{line}" for line in found.lines)
        waiting += reversed(found.inside)


class _Found(NamedTuple):
    """What differs at a place itself, each without the path; and the places inside that may differ too."""

    lines: Sequence[str] = ()
    inside: Sequence[_Place] = ()


def _found(comparison: Comparison, place: _Place) -> _Found:
    path, answer, solution = place
    if isinstance(answer, ListValue) and isinstance(solution, ListValue):
        return _lists(path, answer, solution)
    if isinstance(answer, SetValue) and isinstance(solution, SetValue):
        return _sets(comparison, path, answer, solution)
    if isinstance(answer, DictValue) and isinstance(solution, DictValue):
        return _dicts(comparison, path, answer, solution)
    if type(answer) is type(solution):
        return _Found([f": found {_short(str(answer))}, expected {_short(str(solution))}"])
    return _Found([f": found {_named(answer)}, expected {_named(solution)}"])


def _lists(path: str, answer: ListValue, solution: ListValue) -> _Found:
    pairs = enumerate(zip(answer.elements, solution.elements, strict=False))
    inside = [_Place(f"{path}[{index}]", ours, theirs) for index, (ours, theirs) in pairs]
    found, expected = len(answer.elements), len(solution.elements)
    return _Found(
        [f": found length {found}, expected {expected}"] if found != expected else (), inside
    )


def _sets(comparison: Comparison, path: str, answer: SetValue, solution: SetValue) -> _Found:
    unexpected, missing = comparison.unmatched(answer, solution)
    if len(unexpected) == len(missing) == 1 and _alike(unexpected[0], missing[0]):
        return _Found(inside=[_Place(path + _EACH, unexpected[0], missing[0])])
    return _Found([_EACH + _changes(missing, unexpected)])


def _alike(left: Value, right: Value) -> bool:
    """Say whether two values are containers of one kind, so that a look inside tells more than naming them."""
    return type(left) is type(right) and isinstance(left, ListValue | SetValue | DictValue)


def _dicts(comparison: Comparison, path: str, answer: DictValue, solution: DictValue) -> _Found:
    ours, theirs = comparison.names(answer), comparison.names(solution)
    if ours is None or theirs is None:
        sides = comparison.unmatched(comparison.pairs(answer), comparison.pairs(solution))
        entries, wanted = ([_entry(pair) for pair in side] for side in sides)
        return _Found([_changes(wanted, entries)])
    missing = [key for name, (key, _) in theirs.items() if name not in ours]
    unexpected = [key for name, (key, _) in ours.items() if name not in theirs]
    inside = [
        _Place(f"{path}.{key}", ours[name][1], item)
        for name, (key, item) in theirs.items()
        if name in ours
    ]
    return _Found([_changes(missing, unexpected)] if missing or unexpected else (), inside)


def _entry(pair: Value) -> str:
    return ": ".join(map(str, pair.elements)) if isinstance(pair, ListValue) else str(pair)


def _changes(missing: Sequence[object], unexpected: Sequence[object]) -> str:
    sides = (("missing", missing), ("unexpected", unexpected))
    return ": " + "; ".join(f"{word} {_listed(items)}" for word, items in sides if items)


def _listed(items: Sequence[object]) -> str:
    shown = [_short(str(item)) for item in items[:_LISTED]]
    more = len(items) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def _named(value: Value) -> str:
    return f"{_KINDS[type(value)]} {_short(str(value))}"


def _short(text: str) -> str:
    """Cut the middle out of a long text, and write signs that could play with a terminal as escapes."""
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST // 2]}…{text[-_LONGEST // 2 :]}"
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)

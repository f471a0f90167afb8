"""How far the calls of a model are the expected ones."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from pytest_llmeval.records import Json
from pytest_llmeval.scoring.json_text import comparable_json
from pytest_llmeval.scoring.trajectory.written_call import WrittenCall

Match: TypeAlias = Literal["strict", "unordered", "in_order", "superset", "subset"]
"""Which calls are right: ``strict`` the expected ones in their order, ``unordered`` the same in any
order, ``in_order`` these in their order and others between them, ``superset`` these in any order
and others, ``subset`` none but these."""

Arguments: TypeAlias = Literal["exact", "subset", "ignore"]
"""Which arguments are right: the expected ones alone, these and others, or any."""

_SHOWN = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedCall:
    """A call that a sample expects; without arguments, one with any."""

    tool: str
    arguments: Mapping[str, Json] | None = None

    def fits(self, call: WrittenCall, compare: Arguments) -> bool:
        """Whether a call is this one."""
        if call.name != self.tool:
            return False
        if compare == "ignore" or self.arguments is None:
            return True
        given = call.arguments
        if given is None or (compare == "exact" and given.keys() != self.arguments.keys()):
            return False
        return all(
            key in given and comparable_json(given[key]) == comparable_json(value)
            for key, value in self.arguments.items()
        )

    def __str__(self) -> str:
        """Return the call as an explanation shows it."""
        return f"{self.tool}(...)" if self.arguments is None else shown(self.tool, self.arguments)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What the comparison of calls found.

    Attributes:
        matched: how many expected calls were made.
        share: 0..1; 1 if and only if the calls are right.
        difference: the first difference in words; "" if the calls are right.
    """

    matched: int
    share: float
    difference: str


def compared(
    expected: Sequence[ExpectedCall],
    called: Sequence[WrittenCall],
    *,
    match: Match,
    arguments: Arguments,
) -> Found:
    """Compare the calls of a model with the expected ones.

    The share is of all calls on either side where others are wrong too (``strict``,
    ``unordered``), of the expected ones (``in_order``, ``superset``), or of those made
    (``subset``).
    """
    fits = [[one.fits(call, arguments) for call in called] for one in expected]
    pairs = (_in_order if match in {"strict", "in_order"} else _in_any_order)(fits, len(called))
    most = {"in_order": len(expected), "superset": len(expected), "subset": len(called)}.get(
        match, max(len(expected), len(called))
    )
    if len(pairs) == most:
        return Found(matched=len(pairs), share=1.0, difference="")
    told = _difference(expected, called, pairs, match)
    return Found(matched=len(pairs), share=len(pairs) / most, difference=told)


def shown(tool: str, arguments: Mapping[str, Json] | None) -> str:
    """Return a call as an explanation shows it."""
    if arguments is None:
        return f"{tool[:_SHOWN]}(arguments that cannot be read)"
    given = ", ".join(
        f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in arguments.items()
    )
    return f"{tool}({given})"[:_SHOWN]


def _in_order(fits: Sequence[Sequence[bool]], width: int) -> dict[int, int]:
    """Return the longest common subsequence: places of expected calls to those of made ones."""
    longest = [[0] * (width + 1) for _ in range(len(fits) + 1)]
    for row in range(len(fits) - 1, -1, -1):
        for column in range(width - 1, -1, -1):
            longest[row][column] = (
                longest[row + 1][column + 1] + 1
                if fits[row][column]
                else max(longest[row + 1][column], longest[row][column + 1])
            )
    pairs, row, column = {}, 0, 0
    while row < len(fits) and column < width:
        if fits[row][column]:
            pairs[row] = column
            row, column = row + 1, column + 1
        elif longest[row + 1][column] >= longest[row][column + 1]:
            row += 1
        else:
            column += 1
    return pairs


def _in_any_order(fits: Sequence[Sequence[bool]], width: int) -> dict[int, int]:
    """Return a largest matching, by augmenting paths; as `_in_order`."""
    taken: list[int | None] = [None] * width
    for start in range(len(fits)):
        before: dict[int, tuple[int, int | None]] = {}
        queue: list[tuple[int, int | None]] = [(start, None)]
        free: int | None = None
        for row, origin in queue:
            for column in range(width):
                if not fits[row][column] or column in before:
                    continue
                before[column] = (row, origin)
                holder = taken[column]
                if holder is None:
                    free = column
                    break
                queue.append((holder, column))
            if free is not None:
                break
        while free is not None:
            row, origin = before[free]
            taken[free], free = row, origin
    return {row: column for column, row in enumerate(taken) if row is not None}


def _difference(
    expected: Sequence[ExpectedCall],
    called: Sequence[WrittenCall],
    pairs: Mapping[int, int],
    match: Match,
) -> str:
    """Return the first difference in words; there is one."""
    made = set(pairs.values())
    missing = next((row for row in range(len(expected)) if row not in pairs), None)
    extra = next((column for column in range(len(called)) if column not in made), None)
    if match == "subset":
        missing = None
    elif match in {"in_order", "superset"}:
        extra = None
    call = None if extra is None else shown(called[extra].name, called[extra].arguments)
    if missing is None:
        return f"call {(extra or 0) + 1}, {call}, is not expected"
    told = f"the expected call {missing + 1}, {expected[missing]}, is missing"
    if call is not None:
        told += f"; call {(extra or 0) + 1} is {call}"
    if match == "in_order" and called:
        told += " at its place in the order"
    return told

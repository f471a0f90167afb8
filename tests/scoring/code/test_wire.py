"""Values cross between processes unchanged, and no line makes more than values."""

from __future__ import annotations

import collections
import enum
import json
import math
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scoring.code.programs import score

from pytest_llmeval.scoring.code import wire
from pytest_llmeval.scoring.code.wire import from_line, to_line

_NUMBERS = [True, False, 0, 1, 1.0, -(2**53) - 1, 10**60, 0.5, -0.0, math.inf, 2j]
_OTHERS = [None, "", "1", "a\ud800", b"\x00", Decimal("1.50"), Fraction(1, 3), range(3)]
SCALARS = st.sampled_from([*_NUMBERS, *_OTHERS])
KEYS = SCALARS | st.tuples(SCALARS, SCALARS) | st.frozensets(SCALARS, max_size=2)
VALUES = st.recursive(
    SCALARS | st.integers() | st.floats() | st.text() | st.binary(),
    lambda one: (
        st.lists(one, max_size=3)
        | st.tuples(one, one)
        | st.dictionaries(KEYS, one, max_size=3)
        | st.sets(KEYS, max_size=3)
    ),
    max_leaves=8,
)


def typed(value: Any) -> Any:
    """Return a value in a form that says the type of each part; the order of sets is nothing."""
    if isinstance(value, dict):
        parts: Any = [(typed(key), typed(one)) for key, one in value.items()]
    elif isinstance(value, set | frozenset):
        parts = frozenset(map(typed, value))
    elif isinstance(value, list | tuple):
        parts = tuple(map(typed, value))
    else:
        parts = repr(value)
    return type(value).__name__, parts


def none_kept(value: object) -> int:
    raise AssertionError(value)


def crossed(value: object) -> Any:
    return from_line(to_line(value, none_kept), lambda handle: handle)


@given(VALUES)
def test_every_value_comes_out_as_it_went_in(value: object) -> None:
    assert typed(crossed(value)) == typed(value)


class Colour(enum.IntEnum):
    RED = 7


class Pair(NamedTuple):
    one: int
    other: int


class Sly(list[int]):
    def __eq__(self, other: object) -> bool:  # noqa: D105 - what a cheat defines
        return True

    __hash__ = None


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (Colour.RED, 7),
        (Sly([1]), [1]),
        (collections.Counter("aab"), {"a": 2, "b": 1}),
        (collections.OrderedDict([(1, 2)]), {1: 2}),
        (Pair(1, 2), (1, 2)),
        (range(3, 9, 2), range(3, 9, 2)),
        (2**10_000, 2**10_000),
        (-(2**53) - 1, -(2**53) - 1),
        (bytearray(b"x"), bytearray(b"x")),
        (Decimal("1.50"), Decimal("1.50")),
        (Fraction(2, 6), Fraction(1, 3)),
        (datetime(2026, 11, 23, 4, 5), datetime(2026, 11, 23, 4, 5)),  # noqa: DTZ001 - as tests have it
        (date(2026, 11, 23), date(2026, 11, 23)),
        (time(4, 5), time(4, 5)),
        (timedelta(-1, 3), timedelta(-1, 3)),
    ],
)
def test_subclasses_cross_as_what_they_are_made_from(value: object, plain: object) -> None:
    found = crossed(value)
    assert type(found) is type(plain)
    assert not isinstance(found, Sly)
    assert plain == found


def test_numbers_of_numpy_cross_as_those_of_python() -> None:
    numpy = pytest.importorskip("numpy")
    values = [numpy.int64(3), numpy.float64(0.5), numpy.bool_(1), numpy.float32(0.25)]
    assert repr(crossed(values)) == "[3, 0.5, True, 0.25]"


def test_any_other_object_crosses_as_its_handle() -> None:
    kept: list[object] = []

    def keep(value: object) -> int:
        kept.append(value)
        return len(kept) - 1

    iterator, function = iter("abc"), print
    line = to_line({"a": [iterator], "b": function}, keep)
    assert kept == [iterator, function]
    assert from_line(line, lambda handle: ("it", handle)) == {"a": [("it", 0)], "b": ("it", 1)}


def test_what_is_too_long_or_too_deep_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "LONGEST", 1 << 20)
    with pytest.raises(ValueError, match="more than 1 MB"):
        to_line("x" * (1 << 20), none_kept)
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(RecursionError):
        to_line(deep, none_kept)


TAGS = st.sampled_from(
    ["int", "tuple", "set", "dict", "bytes", "complex", "range", "Decimal", "Fraction", "object"]
)
LINES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.floats(),
    lambda one: st.lists(one, max_size=3) | st.dictionaries(TAGS | st.text(max_size=3), one),
)


@given(LINES.map(lambda value: json.dumps(value).encode()) | st.binary())
def test_any_line_is_a_value_or_an_exception(line: bytes) -> None:
    try:
        found = from_line(line, lambda handle: handle)
    except Exception:  # noqa: BLE001 - of any class
        return
    repr(found)


def test_values_cross_between_the_processes_too() -> None:
    values = [
        [1, (2.5, "é\ud800\n"), {3: {4}}, frozenset({5}), b"\x00", None, True, -0.0, math.inf],
        {"a": [], (1, "b"): {}, None: ()},
        10**3_000,
        3 + 4j,
    ]
    tests = [
        f"inf = float('inf')\nassert repr(same({value!r})) == {repr(value)!r}" for value in values
    ]
    assert score("def same(x): return x", tests=tests).correct

"""Rows in memory share what is equal in them, and stay the rows that they were."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable

import pytest
from example_rows import row
from hypothesis import given
from record_strategies import ROWS

from pytest_llmeval.records import Json, Row, Score
from pytest_llmeval.results.row_texts import lean
from pytest_llmeval.results.shared_parts import SharedParts

VERSIONS: dict[str, Json] = {"task": 1, "dataset": "9" * 64, "prompt": "8" * 64}


def fresh(number: int) -> Row:
    """Return a row as it is read from a file: no part is another row's."""
    exact = Score(name="exact", value=1.0, correct=True, grader="exact/1")
    made = row(
        str(number),
        scores=(exact,),
        answer="2" * 20_000,
        tags=("sums", "small"),
        groups={"topic": ("sums",)},
        versions=VERSIONS,
        explanation="x" * 2_000,
    )
    return Row.from_json(json.loads(json.dumps(made.to_json())))


@given(ROWS)
def test_a_row_whose_parts_are_shared_is_equal_to_itself(one: Row) -> None:
    shared = SharedParts()
    again = Row.from_json(one.to_json())
    first, second = shared.within(one), shared.within(again)
    assert first == one
    assert json.dumps(second.to_json()) == json.dumps(again.to_json())


def test_equal_parts_are_one_object() -> None:
    shared = SharedParts()
    one, other = (shared.within(lean(fresh(number))) for number in range(2))
    for part in ("versions", "groups", "tags", "scores", "details"):
        assert getattr(one, part) is getattr(other, part)


@pytest.mark.parametrize("value", [1.0, True, "1", [1], {"a": 1}, None])
def test_parts_that_json_tells_apart_stay_apart(value: Json) -> None:
    shared = SharedParts()
    first, second = (shared.within(row(versions={"task": one})) for one in (1, value))
    assert repr([first.versions, second.versions]) == repr([{"task": 1}, {"task": value}])


def test_a_row_keeps_under_a_kilobyte_in_memory_however_many_there_are() -> None:
    few, many = (_bytes_a_row(count, lambda: SharedParts().within) for count in (500, 2_000))
    assert many <= few < 1_000
    assert _bytes_a_row(500, lambda: lambda one: one) > 2 * few


def _bytes_a_row(count: int, sharing: Callable[[], Callable[[Row], Row]]) -> float:
    within = sharing()
    tracemalloc.start()
    kept = [within(lean(fresh(number))) for number in range(count)]
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(kept) == count
    return held / count

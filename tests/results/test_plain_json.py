from __future__ import annotations

import decimal
import enum
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmeval.errors import ScorerError
from pytest_llmeval.records.plain import MAX_INTEGER, plain_json

WHERE = "sample '12', score 'EED', field 'details'"


class Word(enum.StrEnum):
    YES = "yes"


@pytest.mark.parametrize(
    ("value", "said"),
    [
        pytest.param(np.float64(0.5), "is a numpy.float64", id="numpy float, though it is a float"),
        pytest.param(np.bool_(True), "is a numpy.bool", id="numpy bool"),
        pytest.param(decimal.Decimal("0.1"), "is a decimal.Decimal", id="decimal"),
        pytest.param(Word.YES, "Word", id="enum, though it is a str"),
        pytest.param((1, 2), "is a tuple", id="tuple"),
        pytest.param({1, 2}, "is a set", id="set"),
        pytest.param(b"x", "is a bytes", id="bytes"),
        pytest.param(float("nan"), "is nan", id="nan"),
        pytest.param(float("-inf"), "is -inf", id="infinity"),
        pytest.param(MAX_INTEGER + 1, "over 64 bits", id="integer beyond 64 bits"),
        pytest.param(10**5000, "over 64 bits", id="integer that Python refuses to print"),
        pytest.param({1: "a"}, "the key 1 of type int", id="number as key"),
    ],
)
def test_a_value_that_is_not_plain_json_is_refused_with_its_place(value: Any, said: str) -> None:
    with pytest.raises(ScorerError, match="not plain JSON") as caught:
        plain_json(value, WHERE)
    assert str(caught.value).startswith(WHERE)
    assert said in str(caught.value)


def test_the_path_inside_the_value_is_named() -> None:
    with pytest.raises(ScorerError) as caught:
        plain_json({"edits": [{"cost": 1.0}, {"cost": np.float64(2)}]}, WHERE)
    assert str(caught.value).startswith(f"{WHERE}['edits'][1]['cost'] is a numpy.float64")


def test_a_list_that_holds_itself_is_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(ScorerError, match="nested deeper"):
        plain_json(endless, WHERE)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-MAX_INTEGER, MAX_INTEGER)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


@given(JSON)
def test_what_passes_is_unchanged_and_survives_json(value: Any) -> None:
    assert plain_json(value, WHERE) == value
    assert json.loads(json.dumps(plain_json(value, WHERE), allow_nan=False)) == value

"""Parsing SLDP: the values of texts."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from scoring.corpora import language_cases

from pytest_llmeval.scoring.sldp import (
    DictValue,
    NumberValue,
    PointValue,
    StringValue,
    parse_sldp,
    render_sldp,
)

VALUES = pytest.mark.parametrize("value_case", language_cases("sldp", "values"))


@VALUES
def test_a_text_means_the_value_that_is_written_so(value_case: dict[str, Any]) -> None:
    assert render_sldp(parse_sldp(value_case["text"])) == value_case["value"]


@VALUES
def test_a_written_value_is_read_as_itself(value_case: dict[str, Any]) -> None:
    value = parse_sldp(value_case["text"])
    assert parse_sldp(render_sldp(value)) == value


def test_a_syntax_error_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="line 1, column 2: found the end"):
        parse_sldp("[")


def test_values_keep_numbers_and_strings_apart() -> None:
    value = parse_sldp('{1: "1", a: POINT(1 2 3)}')
    assert isinstance(value, DictValue)
    assert value.entries == (
        (NumberValue(number=Decimal(1)), StringValue(text="1")),
        (StringValue(text="a"), PointValue(coordinates=(Decimal(1), Decimal(2), Decimal(3)))),
    )


def test_a_number_keeps_every_digit_that_was_written() -> None:
    value = parse_sldp("0.1000000000000000000000000000000000001")
    assert isinstance(value, NumberValue)
    assert str(value.number) == "0.1000000000000000000000000000000000001"


def test_values_are_equal_as_python_objects_when_they_are_written_alike() -> None:
    assert parse_sldp("< a,[1] >") == parse_sldp("<a, [1]>")
    assert parse_sldp("<1>") != parse_sldp("[1]")
    assert len({parse_sldp("<1>"), parse_sldp("< 1 >"), parse_sldp("<1.0>")}) == 2
    assert repr(parse_sldp("< 1 >")) == "SetValue(<1>)"
    assert parse_sldp("a") != "a"

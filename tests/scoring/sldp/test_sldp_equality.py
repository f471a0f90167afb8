"""When two SLDP values are the same answer."""

from __future__ import annotations

import math
import subprocess
import sys
from decimal import Context, Inexact, localcontext
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scoring.corpora import language_cases

from pytest_llmeval.scoring.sldp import SldpSyntaxError, parse_sldp, sldp_diff, sldp_equals

PAIRS = pytest.mark.parametrize("pair", language_cases("sldp", "pairs"))


def options(case: dict[str, Any]) -> dict[str, Any]:
    return {name: case[name] for name in ("tolerance", "case_sensitive") if name in case}


@PAIRS
def test_two_texts_are_equal_as_the_rules_say(pair: dict[str, Any]) -> None:
    assert sldp_equals(pair["a"], pair["b"], **options(pair)) is pair["equal"]


@PAIRS
def test_equality_does_not_ask_which_side_is_the_answer(pair: dict[str, Any]) -> None:
    assert sldp_equals(pair["b"], pair["a"], **options(pair)) is pair["equal"]


@PAIRS
def test_only_a_difference_is_explained(pair: dict[str, Any]) -> None:
    assert (sldp_diff(pair["a"], pair["b"], **options(pair)) == ()) is pair["equal"]


def test_parsed_values_serve_as_well_as_texts() -> None:
    assert sldp_equals(parse_sldp('"trash can"'), parse_sldp("'Trash can'"))
    assert sldp_equals(parse_sldp("<1, 2>"), "<2, 1>")


@pytest.mark.parametrize(("answer", "solution"), [("<1", "<1>"), ("<1>", "<1")])
def test_a_text_that_is_no_sldp_is_an_error_and_not_unequal(answer: str, solution: str) -> None:
    with pytest.raises(SldpSyntaxError):
        sldp_equals(answer, solution)


@pytest.mark.parametrize("tolerance", [-0.01, math.nan, math.inf])
def test_a_tolerance_that_means_nothing_is_refused(tolerance: float) -> None:
    with pytest.raises(ValueError, match="finite number from 0 on, not"):
        sldp_equals("1", "1", tolerance=tolerance)


def test_the_callers_decimal_context_changes_nothing() -> None:
    with localcontext(Context(prec=2, traps=[Inexact])):
        assert sldp_equals(
            "<12345.678, [1.23456, 5]>", "<[1.2345, 5.001], 12345.687>", tolerance=0.0123
        )
        assert not sldp_equals("12345.678", "12345.691", tolerance=0.0123)
        assert str(parse_sldp("12345.678")) == "12345.678"


def test_importing_the_language_does_not_load_its_parser_generator() -> None:
    code = "import sys, pytest_llmeval.scoring.sldp; sys.exit('lark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


PLACES = st.tuples(*[st.integers(-4, 4)] * 3)
"""Coordinates in steps of half the tolerance, so that many lie just within or just beyond it."""


@settings(max_examples=40)
@given(
    st.lists(PLACES, min_size=1, max_size=60),
    st.lists(PLACES, min_size=1, max_size=60),
    st.integers(0, 3),
)
def test_crowded_points_are_equal_as_by_comparing_every_pair(
    left: list[tuple[int, ...]], right: list[tuple[int, ...]], taken: int
) -> None:
    right += left[taken:]  # so that few are without an equal

    def unmatched(side: list[tuple[int, ...]], other: list[tuple[int, ...]]) -> bool:
        return any(
            not any(all(abs(a - b) < 2 for a, b in zip(one, two, strict=True)) for two in other)
            for one in side
        )

    def text(side: list[tuple[int, ...]]) -> str:
        return f"<{', '.join('POINT({} {} {})'.format(*(p * 0.005 for p in one)) for one in side)}>"

    equal = not (unmatched(left, right) or unmatched(right, left))
    assert sldp_equals(text(left), text(right)) is equal
    assert (sldp_diff(text(left), text(right)) == ()) is equal

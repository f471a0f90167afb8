"""The scorer `number`."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scoring.corpora import MEGABYTE, corpus, scored, templates

from pytest_llmeval.scoring.number import Number
from pytest_llmeval.task.options import OptionError, build

TEMPLATES: list[str] = templates("number")

DECIMALS = st.decimals(-(10**9), 10**9, places=3).map(lambda one: f"{one.normalize():f}")
INTEGERS = st.integers(-(10**12), 10**12).map(str)
NUMBERS = st.one_of(INTEGERS, DECIMALS)

HOSTILE = {
    "digits": "9" * 50_000,
    "groups": "1,000" * 10_000,
    "exponent": "1e" + "9" * 49_000,
    "numbers": "1 " * 25_000,
    "blanks": "the answer is" + " " * 49_000 + "5",
    "answers": "the answer is " * 3_500,
    "markers": "answer to " * 5_000,
    "dollars": "$" * 50_000,
    "math": "$a" * 25_000,
    "stars": "*a" * 25_000,
    "underscores": "_a" * 25_000,
    "fonts": "\\text{" * 8_000,
    "fractions": "\\frac{" * 8_000,
    "boxes": "\\boxed{1}" * 5_500,
    "nested-boxes": "\\boxed{" * 6_000 + "5" + "}" * 6_000,
    "names": "x_" * 25_000,
    "carets": "x^" * 25_000,
    "hyphens": "x-" * 25_000,
    "equals": "=" * 50_000,
    "equations": "1=" * 25_000,
    "long-word": "5 " + "m" * 49_000,
    "units": "5 " + "m " * 24_000,
    "slashes": "5 m" + "/s" * 24_000,
    "not": "not " * 12_000 + "5",
    "minus": "-" * 50_000 + "5",
    "rejections": "5" + " is" * 16_000,
    "blanks-behind": "the answer is 5" + " " * 49_000 + "x",
    "lines-behind": "5" + "\n" * 49_000 + "x 6",
    "no": "5" + ", no" * 12_000 + " 6",
    "adverbs": "5 is " + "just " * 9_000 + "6",
    "functions": "log " * 12_000 + "5",
    "operators": "half of " * 6_000 + "5",
    "indices": "log" + "_{" * 20_000 + "5",
    "a-megabyte": "5" * MEGABYTE,
}


@pytest.mark.parametrize("case", corpus("number"))
def test_numbers_are_read_in_the_forms_that_models_write(case: dict[str, Any]) -> None:
    score = scored(Number(**case.get("options", {})), case["answer"], case["target"])
    assert score.correct is case["expected"], score.explanation


@pytest.mark.parametrize("case", corpus("units"))
def test_units_are_converted_and_compared(case: dict[str, Any]) -> None:
    score = scored(Number(**case.get("options", {})), case["answer"], case["target"])
    assert score.correct is case["expected"], score.explanation


@given(st.sampled_from(TEMPLATES), NUMBERS, NUMBERS)
def test_a_right_number_is_correct_in_every_template_and_a_wrong_one_never(
    template: str, number: str, target: str
) -> None:
    answer = template.replace("@", number)
    assert scored(Number(), answer, number).correct
    assert scored(Number(), answer, target).correct is (Fraction(number) == Fraction(target))


@pytest.mark.parametrize("rejection", templates("rejections"))
@given(st.sampled_from(TEMPLATES), NUMBERS)
@settings(max_examples=25)
def test_a_number_that_is_rejected_is_never_correct(
    rejection: str, template: str, number: str
) -> None:
    rejected = rejection.replace("@", number)
    assert not scored(Number(), rejected, number).correct
    behind = rejection.partition("@")[2]
    answer = template.replace("@", number) + behind
    assert not scored(Number(), answer, number).correct, answer


@pytest.mark.parametrize("operator", templates("operators"))
@given(st.sampled_from(TEMPLATES), NUMBERS)
@settings(max_examples=25)
def test_the_operand_of_an_expression_is_never_correct(
    operator: str, template: str, number: str
) -> None:
    answer = template.replace("@", operator.replace("@", number))
    for target in (number, str(-Fraction(number))):
        if Fraction(target):
            assert not scored(Number(), answer, target).correct, answer


@given(st.integers(0, 10**15))
def test_groups_of_thousands_change_nothing(number: int) -> None:
    for sign in (",", "_", " ", "'", "\u202f", "{,}", "\\,"):
        assert scored(Number(), f"{number:,}".replace(",", sign), str(number)).correct


@given(st.integers(-999, 999), st.integers(1, 999))
def test_fractions_equal_themselves_reduced(top: int, bottom: int) -> None:
    reduced = Fraction(top, bottom)
    sign = "-" if top < 0 else ""
    for answer in (f"{top}/{bottom}", f"{sign}\\frac{{{abs(top)}}}{{{bottom}}}", str(reduced)):
        assert scored(Number(), answer, str(reduced)).correct


@given(st.floats(-1e15, 1e15, allow_subnormal=False))
def test_every_spelling_of_a_float_is_the_same_number(number: float) -> None:
    assert scored(Number(), repr(number), f"{number:.17g}").correct


@given(st.text())
def test_no_text_is_an_error(text: str) -> None:
    assert scored(Number(), text, "5").correct in {True, False}


@given(st.text("0123456789.,-+/^*=x e%$\\{}()m s\n", max_size=30))
def test_no_text_of_numbers_and_signs_is_an_error(text: str) -> None:
    for target in ("5", "5 m"):
        assert scored(Number(), text, target).correct in {True, False}


@pytest.mark.timeout(30)
@pytest.mark.parametrize("target", ["7", "7 m"])
@pytest.mark.parametrize("text", list(HOSTILE.values()), ids=list(HOSTILE))
def test_malice_is_read_within_the_limits(text: str, target: str) -> None:
    assert scored(Number(), text, target).correct is False


@pytest.mark.parametrize(
    "target", ["", "five", "3 or 4", "between 3 and 5", "5 flurbs", "2^5", "x"]
)
def test_a_target_that_is_no_number_is_refused(target: str) -> None:
    with pytest.raises(ValueError, match="target"):
        Number().check(target)


def test_a_required_unit_is_asked_of_the_target_too() -> None:
    with pytest.raises(ValueError, match="has no unit, and unit is required"):
        Number(unit="required").check("5")


@pytest.mark.parametrize("option", ["absolute", "relative"])
@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf")])
def test_a_tolerance_that_is_none_is_refused(option: str, value: float) -> None:
    with pytest.raises(OptionError, match=option):
        build(Number, {option: value}, Path())


def test_an_unknown_unit_is_named() -> None:
    assert "unknown unit 'flurbs'" in scored(Number(), "5 flurbs", "5 m").explanation


def test_pint_is_imported_for_a_unit_only() -> None:
    script = """
import sys
from pytest_llmeval.records import Sample
from pytest_llmeval.scoring.number import Number
from pytest_llmeval.task.options import OptionError, build
Number().check("$5")
Number().score("5 apples", Sample(id="1", input="", target="5"), None)
print("pint" in sys.modules)
Number().check("5 m")
print("pint" in sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split() == ["False", "True"]

"""The corrected reader: the meaning of LaTeX, and what it rejects."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_llmeval.scoring.eed.reader.guards import FormulaError
from pytest_llmeval.scoring.eed.statement import read, same_text

HERE = Path(__file__).parent
READINGS = json.loads((HERE / "readings.json").read_text(encoding="utf-8"))
REFUSED = json.loads((HERE / "refused.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", READINGS, ids=[case["latex"] for case in READINGS])
def test_latex_is_read_as_a_physicist_means_it(case: dict[str, str]) -> None:
    assert str(read(case["latex"]).formula) == case["expression"]


@pytest.mark.parametrize("case", REFUSED, ids=[case["reason"] for case in REFUSED])
def test_a_text_without_a_formula_is_rejected_with_a_reason(case: dict[str, str]) -> None:
    with pytest.raises(FormulaError) as raised:
        read(case["latex"])
    assert case["reason"] in str(raised.value)


def test_a_number_keeps_its_approximation() -> None:
    statement = read(r"x = \frac{1}{3} \approx 0.333")
    assert [str(side) for side in statement.formulas] == ["1/3", "0.333000000000000"]


def test_an_approximation_far_from_its_number_does_not_count() -> None:
    assert len(read(r"x = \frac{1}{3} \approx 0.5").formulas) == 1


def test_an_approximate_formula_is_the_last_one() -> None:
    assert (
        str(read(r"T = 2\pi\sqrt{l/g+a} \approx 2\pi\sqrt{l/g}").formula) == "2*pi*sqrt(l)/sqrt(g)"
    )


def test_symbols_are_positive() -> None:
    assert str(read(r"\sqrt{x^2}").formula) == "x"


def test_same_text_looks_through_layout_only() -> None:
    assert same_text(r"\boxed{ \left( a + b \right) c }", "(a+b)c")
    assert not same_text("b+a", "a+b")
    assert not same_text("I do not know it", "I do not know it")

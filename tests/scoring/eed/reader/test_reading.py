"""The corrected reader: the meaning of LaTeX, and what it rejects."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_llmeval.scoring.eed.reader.answer import Chain
from pytest_llmeval.scoring.eed.reader.guards import FormulaError
from pytest_llmeval.scoring.eed.reader.pair import read_one

HERE = Path(__file__).parent
READINGS = json.loads((HERE / "readings.json").read_text(encoding="utf-8"))
REFUSED = json.loads((HERE / "refused.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", READINGS, ids=[case["latex"] for case in READINGS])
def test_latex_is_read_as_a_physicist_means_it(case: dict[str, str]) -> None:
    assert str(read_one(case["latex"]).answer.form) == case["expression"]


@pytest.mark.parametrize("case", REFUSED, ids=[case["reason"] for case in REFUSED])
def test_a_text_without_a_formula_is_rejected_with_a_reason(case: dict[str, str]) -> None:
    with pytest.raises(FormulaError) as raised:
        read_one(case["latex"])
    assert case["reason"] in str(raised.value)


def test_a_chain_keeps_its_members_and_what_is_approximate() -> None:
    answer = read_one(r"x = \frac{1}{3} \approx 0.333").answer
    assert isinstance(answer, Chain)
    assert [str(member.form) for member in answer.members] == ["1/3", "0.333000000000000"]
    assert (answer.name, answer.approximate) == ("x", (False, True))


def test_symbols_are_positive_unless_a_sign_matters() -> None:
    assert str(read_one(r"\sqrt{x^2}").answer.form) == "x"
    assert str(read_one(r"|x|+\sqrt{x^2}").answer.form) == "2*x"
    assert "Abs" in str(read_one(r"\sqrt{x^2} < |y|").answer.form)

"""The corrected mode: without the reference's defects; equal formulas score 100."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_llmeval.scoring.eed import (
    EED_CORRECTED,
    EedResult,
    Weights,
    eed_score,
)

DEFECTS = json.loads((Path(__file__).parent / "defects.json").read_text(encoding="utf-8"))
EXPECTED: dict[str, Callable[[EedResult], bool]] = {
    "equal": lambda result: result.score == 100,
    "below 100": lambda result: result.score < 100,
    "partial": lambda result: 0 < result.score < 100,
    "zero": lambda result: result.score == 0,
    "scored": lambda result: result.reading != "unreadable",
    "one relabel": lambda result: (
        result.distance == 1 and [edit.kind for edit in result.edits] == ["relabel"]
    ),
}


@pytest.mark.parametrize(
    "case", DEFECTS, ids=[f"{case['answer']} / {case['target']}" for case in DEFECTS]
)
def test_a_defect_of_the_reference_is_corrected(case: dict[str, str]) -> None:
    result = eed_score(case["answer"], case["target"])
    assert EXPECTED[case["expected"]](result), f"{case['source']}: {result}"


def test_a_coefficient_error_scores_as_in_the_paper_or_better() -> None:
    # The paper's figure 2 and the reference's readme: 2 edits of 15 nodes, after `simplify` has
    # taken 2m out of both formulas. As they are written, one number differs.
    pair = (r"2 m g+2\frac{mv_0^2}{l}", r"2 m g + 4\frac{mv_0^2}{l}")
    published, corrected = eed_score(*pair, mode="published"), eed_score(*pair)
    assert published.score == pytest.approx(60 - 200 / 15)
    assert (published.distance, published.tree_size, published.reading) == (2, 15, "coefficient")
    assert corrected.score == pytest.approx(60 - 100 / 14)
    assert (corrected.distance, corrected.tree_size, corrected.reading) == (1, 14, "coefficient")


def test_the_edits_are_written_in_terms_of_the_formula() -> None:
    result = eed_score(r"4 m g", r"2 m g")
    assert [str(edit) for edit in result.edits] == ["relabel 4 -> 2 under Mul"]


def test_the_result_shows_what_was_assumed_and_read() -> None:
    result = eed_score("x+1", "1+x")
    assert result.grader == EED_CORRECTED
    assert "symbols are positive" in result.assumptions
    assert (result.answer, result.target) == ("1 + x", "1 + x")


def test_i_is_imaginary_in_an_exponent_but_an_angle_in_a_sine() -> None:
    assert "i is the imaginary unit" in eed_score(r"e^{i t}", r"e^{2 i t}").assumptions
    assert "i is the imaginary unit" not in eed_score(r"n\sin i", r"2n\sin i").assumptions


def test_two_forms_of_a_letter_are_one_symbol_unless_the_target_knows_both() -> None:
    assert eed_score(r"\varphi_0^2", r"\phi_0^2").score == 100
    assert eed_score(r"\varphi+\phi", r"2\phi").score < 100
    assert eed_score(r"2\varphi", r"\phi+\varphi").score < 100


def test_weights_change_the_distance() -> None:
    cheap = eed_score("4 m g", "2 m g", weights=Weights(relabel=0.5))
    assert cheap.distance == 0.5
    assert cheap.score == 60 - 100 * 0.5 / 4


def test_the_scoring_function_is_a_parameter() -> None:
    result = eed_score("4 m g", "2 m g", score=lambda distance, size: 10 * distance / size)
    assert (result.score, result.reading) == (2.5, "structural")
    assert eed_score("m g", "g m", score=lambda _distance, _size: 7.0).score == 100


@pytest.mark.parametrize("answer", [None, "", "   ", "\\", "(", "🚀", "x\0"])
def test_an_unreadable_answer_scores_0_with_a_reason(answer: str | None) -> None:
    result = eed_score(answer, "x")
    assert (result.score, result.reading) == (0, "unreadable")
    assert result.reason


@pytest.mark.parametrize(
    "target",
    [r"\nosuchcommand{x}", "", "(", "x\0", "9" * 401, "(" * 49 + "x" + ")" * 49, "x^{9^{9^9}}!"],
)
def test_an_unreadable_target_decides_nothing_about_the_answer(target: str) -> None:
    result = eed_score("x", target)
    assert (result.score, result.reading, result.decided) == (0, "unreadable target", False)
    assert result.reason.startswith("the target cannot be read: ")


def test_an_unreadable_answer_is_decided_whatever_the_target() -> None:
    for answer in (None, "", "x\0"):
        assert eed_score(answer, r"\nosuchcommand{x}").decided


def test_the_published_mode_gives_0_for_an_unreadable_target_as_its_rules_say() -> None:
    result = eed_score("x", r"\nosuchcommand{x} +", mode="published")
    assert (result.score, result.reading, result.decided) == (0, "unreadable", True)


def test_identical_text_is_equal_even_when_unreadable() -> None:
    assert eed_score(r"\nosuchcommand{x}", r"\boxed{\nosuchcommand{x}}").score == 100


@pytest.mark.parametrize("answer", ["[1,3]", r"1\le x\le 3", r"x\in[1,3]"])
def test_an_end_too_many_is_one_edit_however_the_interval_is_written(answer: str) -> None:
    result = eed_score(answer, r"1<x\le3")
    assert [edit.kind for edit in result.edits] == ["relabel"]
    assert 30 < result.score < 60

"""The prefilter decides plain answers, never wrongly, and leaves the rest to the judge."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmeval.scoring.eed.scoring import expressions_equivalent
from pytest_llmeval.scoring.judge import CANDIDATE_LIMIT, decide_plainly

CASES = yaml.safe_load((Path(__file__).parent / "plain_answers.yaml").read_text("utf-8"))
CALIBRATION = yaml.safe_load(
    (Path(__file__).parents[3] / "fixtures/geometry3k/judge_calibration.yaml").read_text("utf-8")
)


@pytest.mark.parametrize(
    "case", CASES, ids=lambda case: f"{case['reply'][:30]!r} for {case['target']}"
)
def test_a_plain_answer_is_decided(case: dict[str, str]) -> None:
    assert decide_plainly(case["reply"], case["target"]).decision == case["decides"]


@pytest.mark.parametrize(
    ("reply", "target"),
    [
        ("2√221", "2 \\sqrt { 221 }"),
        ("2*sqrt(221)", "2 \\sqrt { 221 }"),
        ("\\boxed{\\sqrt{884}}", "2 \\sqrt { 221 }"),
        ("\\frac{10\\pi}{3}", "\\frac { 10 } { 3 } \\pi"),
        ("25(4-\\pi)", "100 - 25 \\pi"),
    ],
)
def test_equal_expressions_are_found_by_the_equivalence_handed_in(reply: str, target: str) -> None:
    assert decide_plainly(reply, target).decision == "undecided"
    assert decide_plainly(reply, target, equivalent=expressions_equivalent).decision == "equal"


@pytest.mark.parametrize(
    ("reply", "target"),
    [
        ("AB and CD", "AC and BD"),  # products of the same letters
        ("\\frac{16}{11}", "4 \\frac { 4 } { 11 }"),  # a mixed number, not a product
        ("B A", "A B"),
        ("x + 1", "x + 1"),
    ],
)
def test_the_equivalence_sees_numbers_only(reply: str, target: str) -> None:
    assert decide_plainly(reply, target, equivalent=lambda *_: True).decision == "undecided"


def test_an_equivalence_that_does_not_know_decides_nothing() -> None:
    assert (
        decide_plainly("\\sqrt{2}", "\\sqrt { 3 }", equivalent=lambda *_: False).decision
        == "undecided"
    )


@pytest.mark.parametrize("case", CALIBRATION, ids=lambda case: case["id"])
def test_no_labelled_case_is_decided_wrongly(case: dict[str, object]) -> None:
    decision = decide_plainly(
        str(case["candidate"]), str(case["target"]), equivalent=expressions_equivalent
    ).decision
    assert decision in ("undecided", "equal" if case["equivalent"] else "different")


def test_a_third_of_the_labelled_cases_need_no_judge() -> None:
    decisions = [
        decide_plainly(c["candidate"], c["target"], equivalent=expressions_equivalent).decision
        for c in CALIBRATION
    ]
    assert 1 - decisions.count("undecided") / len(decisions) > 0.33


def test_no_injection_is_decided() -> None:
    hostile = [case for case in CALIBRATION if case["kind"] == "injection"]
    assert len(hostile) >= 25
    assert {decide_plainly(case["candidate"], case["target"]).decision for case in hostile} == {
        "undecided"
    }


def test_a_reply_longer_than_the_judge_sees_is_left_to_it() -> None:
    assert decide_plainly("a\n" * CANDIDATE_LIMIT + "Answer: 5", "5").decision == "undecided"


@given(st.integers(-(10**6), 10**6), st.integers(-(10**6), 10**6))
def test_whole_numbers_are_equal_when_they_are_and_different_only_when_far_apart(
    answer: int, target: int
) -> None:
    decision = decide_plainly(f"The answer is {answer}", str(target)).decision
    assert (decision == "equal") is (answer == target)
    assert decision != "different" or abs(answer - target) > max(abs(answer), abs(target)) / 20


@given(st.text(), st.text())
def test_no_text_raises(reply: str, target: str) -> None:
    assert decide_plainly(reply, target).decision in ("equal", "different", "undecided")

"""The prefilter decides plain answers, never wrongly, and leaves the rest to the judge."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

from pytest_llmeval.scoring.judge import decide_plainly
from pytest_llmeval.scoring.judge.tokens import LONGEST, tokens_of

FOLDER = Path(__file__).parent
CASES = yaml.safe_load((FOLDER / "plain_answers.yaml").read_text("utf-8"))
VALIDATION = yaml.safe_load(
    (FOLDER.parents[2] / "fixtures/geometry3k/judge_validation.yaml").read_text("utf-8")
)
PAIRS = [
    json.loads(line) for line in (FOLDER / "prefilter_pairs.jsonl").read_text("utf-8").splitlines()
]


@pytest.mark.parametrize(
    "case", CASES, ids=lambda case: f"{case['reply'][:30]!r} for {case['target']}"
)
def test_a_plain_answer_is_decided(case: dict[str, str]) -> None:
    assert decide_plainly(case["reply"], case["target"]).decision == case["decides"]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair['category']}-{pair['id']}")
def test_no_pair_that_another_hand_labelled_is_decided_wrongly(pair: dict[str, str]) -> None:
    decision = decide_plainly(pair["answer"], pair["target"]).decision
    assert decision in ("undecided", pair["label"]), pair["reason"]


def test_the_labelled_pairs_are_many_and_a_fifth_of_them_needs_no_judge() -> None:
    decisions = [decide_plainly(pair["answer"], pair["target"]).decision for pair in PAIRS]
    assert len({(pair["answer"], pair["target"]) for pair in PAIRS}) >= 300
    assert 1 - decisions.count("undecided") / len(decisions) > 0.2


@pytest.mark.parametrize("case", VALIDATION, ids=lambda case: case["id"])
def test_no_labelled_case_is_decided_wrongly(case: dict[str, Any]) -> None:
    decision = decide_plainly(case["answer"], case["target"]).decision
    assert decision in ("undecided", "equal" if case["correct"] else "different")


def test_no_injection_is_decided() -> None:
    hostile = [case for case in VALIDATION if case["kind"] == "injection"]
    assert len(hostile) >= 25
    assert {decide_plainly(case["answer"], case["target"]).decision for case in hostile} == {
        "undecided"
    }


@given(st.integers(-(10**6), 10**6), st.integers(-(10**6), 10**6))
def test_whole_numbers_are_equal_when_they_are_and_different_only_when_far_apart(
    answer: int, target: int
) -> None:
    decision = decide_plainly(f"The answer is {answer}", str(target)).decision
    assert (decision == "equal") is (answer == target)
    assert decision != "different" or abs(answer - target) > max(abs(answer), abs(target)) / 20


MARKS = (
    r"$ $$ ** __ \( \) \[ \] \boxed{ \text{ \frac{ \sqrt \pi \angle \circ { } ( ) [ ] % ~ # • – |"
)
SIGNS = "1 2 3 13 9.19 1,234 .5 √ π ° ² ^ - − + ± * / = ≈ : . , ;"
WORDS = "x AB m so answer is about cm units or not"
PARTS = st.sampled_from(f"{MARKS} {SIGNS} {WORDS}".split())


@given(st.one_of(st.text(), st.lists(st.one_of(PARTS, st.just("\n"), st.just(" "))).map("".join)))
def test_no_text_raises(text: str) -> None:
    for reply, target in [(text, "5"), ("5", text), (text, text)]:
        assert decide_plainly(reply, target).decision in ("equal", "different", "undecided")


@given(st.lists(PARTS, max_size=8), st.sampled_from(["5", "13", "2", "-13", "26", "1.13"]))
def test_a_line_break_among_any_parts_leaves_an_answer_to_the_judge_or_changes_nothing(
    parts: list[str], target: str
) -> None:
    spaced = decide_plainly(" ".join(parts), target).decision
    assert decide_plainly("\n".join(parts), target).decision in (spaced, "undecided")


DECIDED = [case for case in CASES if case["decides"] != "undecided"]


@given(st.sampled_from(DECIDED), st.data())
def test_blanks_between_the_tokens_never_change_a_decision(
    case: dict[str, str], data: st.DataObject
) -> None:
    tokens = tokens_of(case["reply"])
    assert tokens is not None
    places = [
        token.start
        for before, token in pairwise(tokens)
        # A sign touches its number, and so does a raised two.
        if before.text not in {"-", "+"} and token.text not in {"²", "³"} and token.kind != "break"
    ]
    reply = case["reply"]
    for place in reversed(places):
        blanks = data.draw(st.sampled_from(["", " ", "  ", "\t", "\u00a0"]))
        reply = reply[:place] + blanks + reply[place:]
    assume(len(reply) <= LONGEST)
    assert decide_plainly(reply, case["target"]).decision == case["decides"], reply


LEADS = ["", "The answer is", "Final answer:", "x =", "So the final answer is: AB ="]


@given(
    st.sampled_from(LEADS),
    st.sampled_from([("{}", "$ {} $", "\\boxed{{ {} }}", "** {} **", "\\[ {} \\]")]).flatmap(
        st.sampled_from
    ),
    st.sampled_from(["13", "-13", "\\frac{40}{3}", "2√3", "9.19", "26"]),
    st.sampled_from(["", "cm", "°", "units"]),
    st.data(),
)
def test_line_breaks_between_words_number_unit_and_stop_never_change_a_decision(
    lead: str, frame: str, number: str, unit: str, data: st.DataObject
) -> None:
    parts = [*lead.split(), *frame.format(number).split(), unit, "."]
    joints = [data.draw(st.sampled_from([" ", "\n", "\n\n", "  \n "])) for _ in parts]
    broken = "".join(part + joint for part, joint in zip(parts, joints, strict=True))
    for target in ("13", "\\frac { 40 } { 3 }", "2 \\sqrt { 3 }", "-13"):
        plain = decide_plainly(" ".join(parts), target).decision
        assert decide_plainly(broken, target).decision == plain, broken


HOSTILE = [
    "$ ",
    "(",
    "{",
    "√9999991",
    "√9999991·",
    "**\n",
    "\\frac{",
    "π²·",
    "2^9·",
    "-",
    "- ",
    "1,",
    "|",
    "answer : ",
    "(π+√2)",
    "\\boxed{",
    "1 ",
    "x = ",
    "≈",
    "9" * 50,
    "\u0660",
    "\0",
]


@pytest.mark.parametrize("part", HOSTILE, ids=repr)
def test_a_hostile_answer_is_bounded_before_it_is_read(part: str) -> None:
    for length in (50, LONGEST, 10**6):
        text = (part * length)[:length]
        for reply in (text, f"{text}5", f"5{text}"):
            assert decide_plainly(reply, "2 \\sqrt { 3 }").decision == "undecided"
    assert tokens_of("5" + " " * LONGEST) is None

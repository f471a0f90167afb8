"""A judge's reply counts only when it is exactly the demanded JSON."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmeval.records import Verdict
from pytest_llmeval.scoring.judge import judge_verdict
from pytest_llmeval.scoring.judge.reply import strict_object

CASES = yaml.safe_load((Path(__file__).parent / "verdicts.yaml").read_text("utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_reply_decides_what_its_one_json_object_says(case: dict[str, object]) -> None:
    verdict = judge_verdict(str(case["reply"]))
    assert (None if verdict is None else verdict.correct) is case["decides"]


def test_the_reason_is_kept() -> None:
    reply = '{"answer_correct": 0, "reason": "7 is not 5"}'
    assert judge_verdict(reply) == Verdict(correct=False, reason="7 is not 5")


def test_a_very_long_reason_is_cut() -> None:
    verdict = judge_verdict(f'{{"answer_correct": 1, "reason": "{"a" * 9_000}"}}')
    assert verdict is not None
    assert len(verdict.reason) == 2_000


def test_half_a_surrogate_pair_in_the_reason_does_not_reach_a_file() -> None:
    verdict = judge_verdict('{"answer_correct": 1, "reason": "\\ud83d"}')
    assert verdict is not None
    verdict.reason.encode("utf-8")


@pytest.mark.parametrize(
    "reply",
    [
        "[" * 100_000,
        "[" * 15_000,
        "9" * 15_000,
        '{"answer_correct": 1, "reason": "' + "a" * 100_000 + '"}',
    ],
    ids=["too long", "too deep", "too many digits", "too long a reason"],
)
def test_a_reply_built_to_break_the_parser_is_no_verdict(reply: str) -> None:
    assert judge_verdict(reply) is None


@given(st.text())
def test_no_text_raises(reply: str) -> None:
    verdict = judge_verdict(reply)
    assert verdict is None or isinstance(verdict, Verdict)


@given(st.text(min_size=1).filter(str.strip))
def test_any_word_before_the_object_spoils_it(prose: str) -> None:
    if prose.strip("\ufeff \t\r\n"):
        assert judge_verdict(prose + '{"answer_correct": 1, "reason": "same"}') is None


def test_any_other_object_is_read_as_strictly() -> None:
    assert strict_object('{"label": "a"}', {"label"}) == {"label": "a"}
    assert strict_object('{"label": "a", "more": 1}', {"label"}) is None
    assert strict_object('{"label": "a", "label": "b"}', {"label"}) is None

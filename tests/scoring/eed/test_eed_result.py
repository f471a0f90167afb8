"""The result and its JSON form."""

from __future__ import annotations

import json

import pytest

from pytest_llmeval.scoring.eed import EedResult, Mode, eed_score


@pytest.mark.parametrize("mode", ["corrected", "published"])
@pytest.mark.parametrize("answer", ["a+b", r"\frac{a}{2}+b\sin c", "b+2a", "("])
def test_a_result_survives_json(answer: str, mode: Mode) -> None:
    result = eed_score(answer, "2a+b", mode=mode)
    assert EedResult.from_json(json.loads(json.dumps(result.to_json()))) == result


@pytest.mark.parametrize(
    ("answer", "reading"),
    [("b+2a", "equivalent"), ("3a+b", "coefficient"), ("7", "structural"), ("(", "unreadable")],
)
def test_a_score_reads_as_an_error_of_its_kind(answer: str, reading: str) -> None:
    assert eed_score(answer, "2a+b").reading == reading


def test_an_undecided_result_survives_json_too() -> None:
    result = eed_score("x", "(")
    assert not result.decided
    assert EedResult.from_json(json.loads(json.dumps(result.to_json()))) == result

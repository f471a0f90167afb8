"""Replies of judges, written and labelled by somebody who knew the rules and not the reader."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from pytest_llmeval.records import Verdict
from pytest_llmeval.scoring.judge.label_scale import LabelScale
from pytest_llmeval.scoring.judge.rating_scale import RatingScale
from pytest_llmeval.scoring.judge.rubric import Rubric
from pytest_llmeval.scoring.judge.scale import Scale
from pytest_llmeval.scoring.judge.verdict_scale import VerdictScale

CASES = [
    json.loads(line)
    for line in Path(__file__)
    .with_name("foreign_replies.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]
SCALES: Final[dict[str, tuple[Scale, Callable[[Verdict], object]]]] = {
    "verdict": (VerdictScale(), lambda found: found.correct),
    "rating": (RatingScale(low=1, high=10, minimum=7), lambda found: found.value),
    "label": (
        LabelScale(labels=("supported", "partly", "contradicted"), correct=("supported",)),
        lambda found: found.label,
    ),
    "rubric": (
        Rubric(
            wanted=(("accuracy", "Is it true?"), ("style", "Is it clear?")),
            scale=RatingScale(low=1, high=5, minimum=3),
        ),
        lambda found: dict(found.criteria),
    ),
}


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_a_reply_is_a_verdict_exactly_where_its_label_says_so(case: dict[str, Any]) -> None:
    scale, value_of = SCALES[case["scale"]]
    found = scale.read(case["reply"])
    assert (found is not None) is case["usable"], case["note"]
    if found is not None:
        assert value_of(found) == case["value"]

"""Verdicts on pairs that readers who had not seen the code wrote and labelled, with reasons.

`foreign` is the corpus that was measured once, before any of its pairs was known here;
docs/scoring.md has that figure. `realistic` and `near_misses` (wrong answers made to fool a lenient
grader) are what the reader was developed on.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from pytest_llmeval.scoring.eed import latex_equal

CORPORA = Path(__file__).parent / "corpora"
UNDECIDABLE = {"h289"}
"""A chain whose last member is wrong only by a law of physics that neither side states."""

Pair = dict[str, str]


def verdicts(pairs: Sequence[Pair]) -> tuple[list[str], float]:
    """Return the wrong answers that are accepted, and the share of right ones that are."""
    accepted = {pair["id"]: latex_equal(pair["answer"], pair["target"]) is True for pair in pairs}
    false_hundreds = [
        pair["id"] for pair in pairs if pair["truth"] == "different" and accepted[pair["id"]]
    ]
    right = [accepted[pair["id"]] for pair in pairs if pair["truth"] == "equivalent"]
    return false_hundreds, sum(right) / len(right)


@pytest.mark.parametrize("name", ["foreign", "realistic", "near_misses"])
def test_no_wrong_answer_is_accepted_and_few_right_ones_are_lost(name: str) -> None:
    lines = (CORPORA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    false_hundreds, recall = verdicts([json.loads(line) for line in lines])
    assert set(false_hundreds) <= UNDECIDABLE
    assert recall >= 0.95


def test_the_general_corpus_of_the_reference_material_is_decided_as_well(shared: Path) -> None:
    path = shared / "conformance" / "eed_general.jsonl"
    pairs = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    false_hundreds, recall = verdicts(pairs)
    assert not false_hundreds
    assert recall >= 0.95

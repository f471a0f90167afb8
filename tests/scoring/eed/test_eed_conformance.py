"""Conformance with the public reference and human judgement, on pairs outside this project.

Every fourth pair (published mode: every eighth), without three large formulas, whose 23 answers
take a third of the time; all pairs with ``LLMEVAL_ALL_PAIRS=1``, which `make conformance` sets.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval.scoring.eed import EedResult, Mode, eed_score_many

PROCESSES = 2
LARGE = ("big-159-", "big-160-", "big-163-")


@pytest.fixture(scope="module")
def pairs(shared: Path) -> list[dict[str, Any]]:
    lines = (shared / "conformance" / "eed.jsonl").read_text(encoding="utf-8").splitlines()
    found = [json.loads(line) for line in lines]
    if os.environ.get("LLMEVAL_ALL_PAIRS"):
        return found
    return [pair for pair in found if not pair["id"].startswith(LARGE)][::4]


def scored(pairs: list[dict[str, Any]], mode: Mode) -> list[tuple[dict[str, Any], EedResult]]:
    texts = ((pair["answer"], pair["target"]) for pair in pairs)
    return list(zip(pairs, eed_score_many(texts, processes=PROCESSES, mode=mode), strict=True))


def test_the_published_mode_reproduces_the_reference(pairs: list[dict[str, Any]]) -> None:
    if not os.environ.get("LLMEVAL_ALL_PAIRS"):
        pairs = pairs[::2]  # this mode is slow
    compared = [pair for pair in pairs if pair["reference"] is not None]
    unlike = [
        pair["id"]
        for pair, result in scored(compared, "published")
        if not _agrees(result, pair["reference"])
    ]
    assert not unlike  # docs/scoring.md says so


def _agrees(result: EedResult, reference: dict[str, float]) -> bool:
    if result.score != pytest.approx(reference["score"], abs=1e-6):
        return False
    if result.tree_size is None:  # equal before trees were compared, or unreadable
        return True
    found = (result.relative_distance, result.tree_size, result.distance)
    expected = (reference["relative_distance"], reference["tree_size"], reference["distance"])
    return found == pytest.approx(expected, abs=1e-6)


def test_the_corrected_mode_agrees_with_careful_people(pairs: list[dict[str, Any]]) -> None:
    judged = [pair for pair in pairs if pair["truth"] != "ambiguous"]
    results = scored(judged, "corrected")
    equivalent = [result.score == 100 for pair, result in results if pair["truth"] == "equivalent"]
    false_hundreds = [
        pair["id"]
        for pair, result in results
        if pair["truth"] == "different" and result.score == 100
    ]
    assert not false_hundreds
    assert sum(equivalent) >= 0.97 * len(equivalent)


def test_every_public_target_equals_itself_in_a_box(shared: Path) -> None:
    rows = json.loads(
        (shared / "data" / "phybench" / "PHYBench-fullques_v1.json").read_text(encoding="utf-8")
    )
    targets = [row["answer"] for row in rows]
    boxed = [(rf"\boxed{{{target.strip().strip('$')}}}", target) for target in targets]
    unlike = [result for result in eed_score_many(boxed) if result.score != 100]
    assert not unlike

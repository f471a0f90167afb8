"""examples/humaneval_like: right, wrong, endless and hostile programs on recorded replies."""

from __future__ import annotations

import json
from math import comb
from pathlib import Path
from typing import Any

import pytest
import yaml
from examples.example_run import ROOT, rows_of
from sandboxes import require
from scoring.code.programs import Surroundings, scored_all

from pytest_llmeval.sandbox.choice import present_isolations
from pytest_llmeval.task.answers import code
from pytest_llmeval.task.catalog import Catalog

pytestmark = pytest.mark.usefixtures("quick_sessions")

FOLDER = ROOT / "examples/humaneval_like"
PLANNED: dict[str, Any] = yaml.safe_load(
    (Path(__file__).parent / "humaneval_like.yaml").read_text("utf-8")
)


def test_every_program_gets_its_outcome_and_pass_at_k_counts_them(tmp_path: Path) -> None:
    require(next(iter(present_isolations()), "landlock"))
    rows = rows_of(FOLDER, tmp_path, "--llmeval-epochs=3")
    entries = {one.id: one.metadata["entry_point"] for one in loaded().samples}
    found: dict[str, dict[int, str]] = {}
    for row in rows:
        found.setdefault(entries[row["sample"]], {})[row["epoch"]] = row["outcome"]
    assert {name: [found[name][epoch] for epoch in (1, 2, 3)] for name in found} == {
        name: one["outcomes"] for name, one in PLANNED.items()
    }
    summary = json.loads((tmp_path / "latest/summary.json").read_text("utf-8"))
    metrics = summary["entries"][0]["tally"]["metrics"]
    right = [one["outcomes"].count("correct") for one in PLANNED.values()]
    for k, metric in zip((1, 3), metrics, strict=True):
        by_hand = [1 - comb(3 - correct, k) / comb(3, k) for correct in right]
        assert metric["name"] == f"pass@{k}"
        assert metric["value"] == pytest.approx(sum(by_hand) / len(by_hand))
        assert metric["low"] < metric["value"] <= metric["high"]


def test_every_solution_passes_its_own_tests() -> None:
    require(next(iter(present_isolations()), "landlock"))
    task = loaded().task
    solutions = [(one.target, one) for one in loaded().samples]
    scores = scored_all(task.scorers[0].scorer, solutions, Surroundings())
    assert [one.explanation for one in scores if not one.correct] == []


def test_the_answer_rule_takes_the_program_out_of_every_reply() -> None:
    for planned in PLANNED.values():
        for reply in planned["replies"]:
            program = code(reply)
            assert program is not None
            assert "```" not in program
            assert "Here it is" not in program


def loaded() -> Any:
    return Catalog(folder=ROOT).load(FOLDER / "humaneval_like.yaml")

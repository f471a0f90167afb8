"""The physics problems of our own: complete, sound, graded as intended, and ours."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_llmeval import eed_score

FOLDER = Path(__file__).parents[2] / "fixtures" / "phybench"
SAMPLES: list[dict[str, Any]] = yaml.safe_load((FOLDER / "samples.yaml").read_text("utf-8"))
TAGS = {"MECHANICS", "ELECTRICITY", "THERMODYNAMICS", "OPTICS", "MODERN", "ADVANCED"}

PUBLISHED_CANNOT_READ = {208}
"""A `\\left` after the first relation sign, with a nested one: the published clean-up leaves no
formula."""


def test_every_problem_has_the_public_columns_and_a_difficulty() -> None:
    columns = {
        "id": int,
        "tag": str,
        "content": str,
        "solution": str,
        "answer": str,
        "difficulty": str,
    }
    assert all(
        {name: type(value) for name, value in sample.items()} == columns for sample in SAMPLES
    )
    assert {sample["difficulty"] for sample in SAMPLES} == {"easy", "medium", "hard"}


def test_there_are_48_problems_under_six_tags_with_at_least_five_each() -> None:
    assert (
        len({sample["id"] for sample in SAMPLES})
        == len({sample["content"] for sample in SAMPLES})
        == 48
    )
    counts = Counter(sample["tag"] for sample in SAMPLES)
    assert counts.keys() == TAGS
    assert min(counts.values()) >= 5


def test_every_solution_takes_several_steps() -> None:
    short = [sample["id"] for sample in SAMPLES if len(sample["solution"].split("\n\n")) < 3]
    assert not short


def test_every_answer_agrees_with_an_independent_calculation() -> None:
    script = FOLDER / "check_solutions.py"
    run = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=300, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "48 of 48 answers are sound" in run.stdout


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample["id"])
def test_a_target_scores_100_against_itself_in_a_box(sample: dict[str, Any]) -> None:
    boxed = re.sub(r"^(\$\$|\\\[)|(\$\$|\\\])$", "", sample["answer"]).strip()
    assert eed_score(boxed, sample["answer"]).score == 100
    published = eed_score(boxed, sample["answer"], mode="published")
    assert (published.score == 100) is (sample["id"] not in PUBLISHED_CANNOT_READ), published.reason


def test_no_eight_words_in_a_row_stand_in_a_public_problem(shared: Path) -> None:
    release = json.loads((shared / "data/phybench/PHYBench-questions_v1.json").read_text("utf-8"))
    public = {run for row in release for run in _runs(f"{row['content']} {row['solution']}")}
    shared_runs = {sample["id"]: _runs(sample["content"]) & public for sample in SAMPLES}
    assert not {number: runs for number, runs in shared_runs.items() if runs}


def _runs(text: str, length: int = 8) -> set[tuple[str, ...]]:
    words = re.findall(r"[a-z]+", text.lower())
    return {tuple(words[at : at + length]) for at in range(len(words) - length + 1)}

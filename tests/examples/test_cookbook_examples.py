"""The examples of docs/cookbook on their recorded replies, and the pages that show their files."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from examples.example_run import ROOT, rows_of

from pytest_llmeval.records import Row
from pytest_llmeval.results.metric import f1_macro, micro

pytestmark = pytest.mark.usefixtures("quick_sessions")

EXAMPLES = ROOT / "examples"
PAGES = ROOT / "docs/cookbook"

INCORRECT = {
    "word_problems": {"8", "10"},
    "multiple_choice": {"3", "7"},
    "instructions": {"7", "8"},
    "classification": {"7", "8", "10"},
    "prompt_matrix[plain]": {"6"},
    "prompt_matrix[terse]": {"6", "9"},
    "prompt_matrix[steps]": set(),
}
"""The samples of each task that the recorded model gets wrong."""

NAMES = sorted({name.partition("[")[0] for name in INCORRECT})


def test_every_example_runs_on_its_recording(tmp_path: Path) -> None:
    folders = [EXAMPLES / name for name in NAMES]
    rows = rows_of(folders[0], tmp_path, *map(str, folders[1:]))
    by_task = defaultdict(list)
    for row in rows:
        by_task[row["task"]].append(row)
    found = {
        task: {row["sample"] for row in of_task if row["outcome"] == "incorrect"}
        for task, of_task in by_task.items()
    }
    assert found == INCORRECT
    assert Counter(row["outcome"] for row in rows) == {"correct": 58, "incorrect": 12}
    assert all(row["recorded"] for row in rows)
    instructions, moods = (
        [Row.from_json(row) for row in by_task[task]] for task in ("instructions", "classification")
    )
    assert micro(instructions) == pytest.approx(18 / 20)
    assert f1_macro(moods) == pytest.approx((4 / 7 + 6 / 7 + 4 / 5) / 3)


@pytest.mark.parametrize("name", NAMES)
def test_the_page_shows_the_examples_task_and_code(name: str) -> None:
    page = (PAGES / f"{name}.md").read_text("utf-8")
    blocks = re.findall(r"```\w+\n(.*?)```", page, re.DOTALL)
    files = [EXAMPLES / name / f"{name}.yaml", *(EXAMPLES / name).glob("checks.py")]
    for file in files:
        assert file.read_text("utf-8") in blocks
    assert f"pytest examples/{name}" in page
    assert len((EXAMPLES / name / "samples.jsonl").read_text("utf-8").splitlines()) == 10

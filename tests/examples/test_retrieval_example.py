"""examples/retrieval, on its recorded replies and with the script that they are of."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from examples.example_run import ROOT, rows_of

pytestmark = pytest.mark.usefixtures("quick_sessions")

FOLDER = ROOT / "examples/retrieval"
MODEL = "python/./tests/examples/retrieval_model.py:reply"
SCRIPTED = (f"--llmeval-model={MODEL}", f"--llmeval-judge={MODEL}")


def scores(row: dict[str, Any]) -> tuple[float, ...]:
    return tuple(score["value"] for score in row["scores"])


@pytest.mark.parametrize("options", [(), SCRIPTED], ids=["recorded", "scripted"])
def test_answer_faithfulness_and_recall_are_told_apart(
    options: tuple[str, ...], tmp_path: Path
) -> None:
    rows = rows_of(FOLDER, tmp_path, *options)
    assert Counter(row["outcome"] for row in rows) == {"correct": 6, "incorrect": 4}
    found = {row["sample"]: scores(row) for row in rows if row["outcome"] == "incorrect"}
    assert found == {
        "2": (1, 0, 1),  # right, with an addition of its own
        "7": (0, 1, 1),  # no answer to the question, and nothing made up
        "9": (0, 1, 0),  # the passage was not found, and the model says so
        "10": (1, 0, 0.5),  # one of two passages was found, and the rest is from elsewhere
    }


def test_the_page_shows_the_examples_task_and_code() -> None:
    page = (ROOT / "docs/cookbook/retrieval.md").read_text("utf-8")
    blocks = re.findall(r"```\w+\n(.*?)```", page, re.DOTALL)
    for name in ("retrieval.yaml", "recall.py"):
        assert (FOLDER / name).read_text("utf-8") in blocks
    assert len((FOLDER / "samples.jsonl").read_text("utf-8").splitlines()) == 10

"""examples/conversations and examples/simulated_user on their recorded replies, and their pages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from examples.example_run import ROOT, rows_of

pytestmark = pytest.mark.usefixtures("quick_sessions")

EXAMPLES = ROOT / "examples"
FILES = {
    "conversations": ("conversations.yaml", "judge.md"),
    "simulated_user": ("simulated_user.yaml", "tickets.py"),
}


def test_both_examples_run_on_their_recordings(tmp_path: Path) -> None:
    rows = rows_of(EXAMPLES / "conversations", tmp_path, str(EXAMPLES / "simulated_user"))
    assert all(row["recorded"] for row in rows)
    rated = {
        row["sample"]: [score["value"] for score in row["scores"]]
        for row in rows
        if row["task"] == "conversations"
    }
    assert {sample for sample, (both, *_) in rated.items() if both < 7} == {"3", "5", "8"}
    assert rated["3"] == [6.5, 10, 3]
    assert rated["8"] == [1, 1, 1]
    booked = {
        row["sample"]: (row["outcome"], row["details"]["ended"], row["details"]["turns"])
        for row in rows
        if row["task"] == "simulated_user"
    }
    assert booked == BOOKED


BOOKED = {
    "1": ("correct", "stop", 4),
    "2": ("correct", "stop", 3),
    "3": ("correct", "stop", 4),
    "4": ("correct", "stop", 4),
    "5": ("correct", "stop", 4),
    "6": ("correct", "stop", 4),
    "7": ("incorrect", "stop", 3),
    "8": ("incorrect", "turns", 6),
    "9": ("incorrect", "stop", 3),
    "10": ("correct", "stop", 4),
}
"""Outcome, why the conversation ended, and its turns."""


@pytest.mark.parametrize("name", FILES)
def test_the_page_shows_the_examples_files(name: str) -> None:
    page = (ROOT / "docs/cookbook" / f"{name}.md").read_text("utf-8")
    blocks = re.findall(r"```\w+\n(.*?)```", page, re.DOTALL)
    for file in FILES[name]:
        assert (EXAMPLES / name / file).read_text("utf-8") in blocks
    assert f"pytest examples/{name}" in page
    assert len((EXAMPLES / name / "samples.jsonl").read_text("utf-8").splitlines()) == 10

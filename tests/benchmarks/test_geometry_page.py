"""docs/geometry3k.md shows what the recorded run shows, and its examples are valid."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml
from benchmarks.benchmark_session import ROOT

from pytest_llmeval.commands.main import main
from pytest_llmeval.domains.geometry3k.drawing import parse_drawing
from pytest_llmeval.domains.geometry3k.visual_cot import VisualCotSolver
from pytest_llmeval.task.dataset import Fields

PAGE = (ROOT / "docs/geometry3k.md").read_text("utf-8")


def block(language: str) -> str:
    """Return the page's only example in a language."""
    (found,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return str(found)


def test_the_table_is_that_of_the_recorded_run(
    recorded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["compare", str(recorded / "latest"), "--by", "task"])
    # A title is as wide as the terminal.
    shown = re.sub(" ─+$", "", capsys.readouterr().out, flags=re.MULTILINE)
    assert re.sub(" ─+$", "", block("text"), flags=re.MULTILINE).strip() in shown


def test_the_drawing_of_the_page_can_be_drawn() -> None:
    drawing = parse_drawing(block("json"), width=420, height=330)
    assert (len(drawing.points), len(drawing.lines), len(drawing.circles)) == (1, 1, 1)
    assert json.loads(block("json")).keys() == {"points", "lines", "circles"}


def test_the_task_of_the_page_is_valid() -> None:
    task = yaml.safe_load(block("yaml"))
    assert Fields.model_validate(task["dataset"]["fields"]).metadata == {"auxiliary": "auxiliary"}
    assert VisualCotSolver(**task["solver"]["visual_cot"]).stages == ("question",)


def test_the_tests_of_the_page_are_those_of_the_benchmark() -> None:
    told = set(re.findall(r"^\| `(test_\w+)` \| `(\w+)` \|", PAGE, re.MULTILINE))
    source = (ROOT / "benchmarks/geometry3k/test_geometry3k.py").read_text("utf-8")
    assert told == {
        (test, task) for task, test in re.findall(r'"(\w+)\.yaml"\)\ndef (\w+)\(', source)
    }

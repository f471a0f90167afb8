"""The scorers that docs/scorers.md shows as examples of one's own."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval import Sample
from pytest_llmeval.task.declared import declared_scorers
from pytest_llmeval.task.spec import Spec

PAGE = (Path(__file__).parents[2] / "docs" / "scorers.md").read_text("utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "score.py").write_text("\n\n".join(blocks[:2]))
    return tmp_path


@pytest.mark.parametrize(
    ("name", "options", "answer", "value"),
    [
        ("./score.py:brevity", {}, "short", 1.0),
        ("./score.py:brevity", {"most": 4}, "short", 0.0),
        ("./score.py:Overlap", {}, "one two three", 0.5),
        ("./score.py:Overlap", {"least": 0.5}, "two one", 0.5),
        ("./score.py:Overlap", {}, None, 0.0),
    ],
)
def test_an_example_scores(
    folder: Path, name: str, options: dict[str, Any], answer: str | None, value: float
) -> None:
    [declared] = declared_scorers([Spec(name=name, options=options)], ("first",), folder)
    sample = Sample(id="1", input="", target="one two four five")
    score = declared.scorer.score(answer, sample, None)
    assert score.value == value
    assert score.correct is (value >= options.get("least", 0.8))

"""The page of the general scorers says what they are."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from pytest_llmeval.task.registry import SCORERS

PAGE = (Path(__file__).parents[2] / "docs" / "scorers.md").read_text("utf-8")
GENERAL = ["exact", "includes", "regex", "number", "choice", "json_schema", "checks"]


@pytest.mark.parametrize("name", GENERAL)
def test_the_page_lists_all_options_and_the_grader(name: str) -> None:
    scorer = SCORERS.load(name, Path())
    section = PAGE.split(f"\n## {name}\n")[1].split("\n## ")[0]
    assert dataclasses.is_dataclass(scorer)
    options = {field.name for field in dataclasses.fields(scorer) if field.init}
    listed = re.findall(r"^\| `(\w+)` \| .* \| .* \|$", section, re.MULTILINE)
    assert set(listed) == options
    grader = vars(scorer)["grader"]
    assert f"| [{name}](#{name}) | `{grader}` |" in PAGE

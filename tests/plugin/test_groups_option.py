"""``--llmeval-groups``: all tables at the end of a run, in place of a line for each task."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plugin.conftest import Project

SCRIPTED = ("--llmeval-model", "python/./model.py:reply")


def test_a_run_ends_with_a_line_for_each_task_and_with_groups_when_they_are_asked_for(
    project: Project,
) -> None:
    short = project.run(*SCRIPTED, "-n0").stdout.str().partition("LLM benchmark results")[2]
    rows = project.rows()
    kinds = {kind for one in rows for kind in one["groups"].get("kind", ())}
    assert kinds
    assert len(re.findall(r"^sums ", short, re.MULTILINE)) == 1
    assert not any(re.search(rf"^ +{kind} ", short, re.MULTILINE) for kind in kinds)
    assert "report.html" in short
    long = project.run(*SCRIPTED, "-n0", "--llmeval-groups").stdout.str()
    for kind in kinds:
        assert re.search(rf"^ +{kind} ", long, re.MULTILINE)
    assert "tokens in" in long

"""examples/tools, on its recorded replies and with calls in text."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from examples.example_run import ROOT, rows_of

pytest.importorskip("mcp", reason="the extra `mcp` is not installed")

pytestmark = pytest.mark.usefixtures("quick_sessions")

FOLDER = ROOT / "examples/tools"
SCRIPTED = (
    "--llmeval-set=tools.solver.agent.calls=text",
    "--llmeval-model=python/./tests/examples/tools_model.py:reply",
)


def of_score(row: dict[str, Any], name: str) -> dict[str, Any]:
    (score,) = (score for score in row["scores"] if score["name"] == name)
    found: dict[str, Any] = score
    return found


@pytest.mark.parametrize("options", [(), SCRIPTED], ids=["native", "text"])
def test_an_agent_uses_a_function_and_an_mcp_server_and_its_calls_are_scored(
    options: tuple[str, ...], tmp_path: Path
) -> None:
    rows = {row["sample"]: row for row in rows_of(FOLDER, tmp_path, *options)}
    assert len(rows) == 10
    wrong = {sample for sample, row in rows.items() if row["outcome"] != "correct"}
    assert wrong == {"7", "8", "10"}
    assert {rows[sample]["outcome"] for sample in wrong} == {"incorrect"}
    assert [of_score(rows[sample], "number")["correct"] for sample in "78"] == [False, True]
    assert [of_score(rows[sample], "trajectory")["value"] for sample in ("8", "10")] == [0.5, 0]
    assert "count(store=" in of_score(rows["8"], "trajectory")["explanation"]
    assert rows["9"]["details"]["failed_calls"] == 1


def test_the_page_shows_the_examples_files() -> None:
    page = (ROOT / "docs/cookbook/tools.md").read_text("utf-8")
    blocks = re.findall(r"```\w+\n(.*?)```", page, re.DOTALL)
    for name in ("tools.yaml", "convert.py", "stock_server.py"):
        assert (FOLDER / name).read_text("utf-8") in blocks

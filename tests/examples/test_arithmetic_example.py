"""examples/arithmetic, on its recorded replies and with calls in text."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("quick_sessions")

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples/arithmetic"
SCRIPTED = (
    "--llmeval-set=arithmetic.solver.agent.calls=text",
    "--llmeval-model=python/./tests/examples/arithmetic_model.py:reply",
)


@pytest.mark.parametrize("options", [(), SCRIPTED], ids=["native", "text"])
def test_an_agent_calculates_with_functions_of_the_tasks_own(
    options: tuple[str, ...], tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    done = subprocess.run(
        [*command, FOLDER, f"--llmeval-report={tmp_path}", *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    lines = (tmp_path / "latest/rows.jsonl").read_text("utf-8").splitlines()
    rows: list[dict[str, Any]] = [json.loads(line) for line in lines]
    told = {
        row["sample"]: (row["outcome"], row["details"]["calls"], row["details"]["failed_calls"])
        for row in rows
    }
    assert told == {
        "1": ("correct", 1, 0),
        "2": ("correct", 1, 0),
        "3": ("correct", 1, 1),
        "4": ("incorrect", 2, 0),
    }

"""examples/arithmetic, on its recorded replies and with calls in text."""

from __future__ import annotations

from pathlib import Path

import pytest
from examples.example_run import ROOT, rows_of

pytestmark = pytest.mark.usefixtures("quick_sessions")

FOLDER = ROOT / "examples/arithmetic"
SCRIPTED = (
    "--llmeval-set=arithmetic.solver.agent.calls=text",
    "--llmeval-model=python/./tests/examples/arithmetic_model.py:reply",
)


@pytest.mark.parametrize("options", [(), SCRIPTED], ids=["native", "text"])
def test_an_agent_calculates_with_functions_of_the_tasks_own(
    options: tuple[str, ...], tmp_path: Path
) -> None:
    told = {
        row["sample"]: (row["outcome"], row["details"]["calls"], row["details"]["failed_calls"])
        for row in rows_of(FOLDER, tmp_path, *options)
    }
    assert told == {
        "1": ("correct", 1, 0),
        "2": ("correct", 1, 0),
        "3": ("correct", 1, 1),
        "4": ("incorrect", 2, 0),
    }

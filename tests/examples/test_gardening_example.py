"""examples/gardening, on its recorded replies and with the script that they are of."""

from __future__ import annotations

from pathlib import Path

import pytest
from examples.example_run import ROOT, rows_of

pytestmark = pytest.mark.usefixtures("quick_sessions")

FOLDER = ROOT / "examples/gardening"
MODEL = "python/./tests/examples/gardening_model.py:reply"
SCRIPTED = (f"--llmeval-model={MODEL}", f"--llmeval-judge={MODEL}")


@pytest.mark.parametrize("options", [(), SCRIPTED], ids=["recorded", "scripted"])
def test_a_judge_rates_advice_on_two_criteria(options: tuple[str, ...], tmp_path: Path) -> None:
    told = {
        row["sample"]: (row["outcome"], [score["value"] for score in row["scores"]])
        for row in rows_of(FOLDER, tmp_path, *options)
    }
    assert told == {
        "1": ("correct", [9.5, 10, 9]),
        "2": ("incorrect", [5.5, 2, 9]),
        "3": ("incorrect", [6.5, 9, 4]),
        "4": ("incorrect", [2, 1, 3]),
    }

"""A soak of half a minute: sessions met by faults, resumed until every sample has its outcome."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SAMPLES = 240

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="the soak asks /proc, and limits files of running processes"
)


def test_sessions_that_meet_faults_lose_nothing_and_pay_for_nothing_twice(tmp_path: Path) -> None:
    figures_file = tmp_path / "soak.json"
    command = [
        *(sys.executable, str(ROOT / "performance" / "soak.py"), "--no-graph", "--seed", "6"),
        *("--minutes", "0.5", "--samples", str(SAMPLES), "--folder", str(tmp_path / "soak")),
        *("--json", str(figures_file)),
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    figures = json.loads(figures_file.read_text())
    assert figures["samples"] >= SAMPLES
    assert figures["breaches"] == []
    assert figures["faults of sessions"]
    assert figures["faults of single requests"]
    assert figures["replies paid"] == figures["prompts stored"] + figures["of them paid again"]

"""A run of pytest over an example, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def rows_of(example: Path, reports: Path, *options: str) -> list[dict[str, Any]]:
    """Return the rows of a run in which some samples fail; its folder lies in `reports`."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    done = subprocess.run(
        [*command, example, f"--llmeval-report={reports}", *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    lines = (reports / "latest/rows.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]

"""Sessions of pytest over the benchmarks, each in a process of its own (this folder is on the path of its tests)."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
COMMAND = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist")


def run_pytest(
    *arguments: str | Path, cwd: Path = ROOT, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run pytest with these arguments, whatever it finds, and return what it says."""
    return subprocess.run(
        [*COMMAND, *arguments],
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def newest_rows(reports: Path) -> list[dict[str, Any]]:
    """Return the rows of the newest run in a folder of reports."""
    return [
        json.loads(line) for line in (reports / "latest/rows.jsonl").read_text("utf-8").splitlines()
    ]

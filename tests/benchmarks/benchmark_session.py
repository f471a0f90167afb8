"""Sessions of pytest over the benchmarks, each in its own process."""

from __future__ import annotations

import fcntl
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
OPTIONS = ("-p", "no:cacheprovider", "-p", "no:xdist")


def run_pytest(
    *arguments: str | Path, cwd: Path = ROOT, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run pytest with these arguments, whatever it finds, and return what it says."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", *OPTIONS, *arguments],
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


def recorded_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the reports of one run of all benchmarks on recorded replies.

    It is made by the first test that asks, for all tests of the session, in all xdist workers.
    Skip where the embedded database is not installed.
    """
    if importlib.util.find_spec("arcadedb_embedded") is None:
        pytest.skip("arcadedb-embedded is not installed")
    base = tmp_path_factory.getbasetemp()
    # Workers have their own folders below the session's.
    reports = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "recorded_run"
    reports.mkdir(exist_ok=True)
    with (reports / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (reports / "latest").exists():
            done = run_pytest("benchmarks", "--tb=short", "-q", f"--llmeval-report={reports}")
            assert (reports / "latest").is_dir(), done.stdout + done.stderr
    return reports

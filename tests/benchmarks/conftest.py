"""What the tests of the benchmarks share."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.benchmark_session import recorded_run


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the reports of one run of all benchmarks on recorded replies."""
    return recorded_run(tmp_path_factory)


@pytest.fixture(autouse=True)
def _quick(quick_sessions: None) -> None:
    """Start sessions sooner; `recorded`, which starts before, has a Python of its own."""

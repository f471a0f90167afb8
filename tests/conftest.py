"""What the whole test suite shares: the way to the read-only reference material, if it is there."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest
from servers.fixture import (
    batch_server,
    batch_server_process,
    messages_server,
    messages_server_process,
    model_server,
    model_server_process,
)
from warm.fixture import warm_python

__all__ = [
    "batch_server",
    "batch_server_process",
    "messages_server",
    "messages_server_process",
    "model_server",
    "model_server_process",
    "warm_python",
]

# No test is timed: the machine is shared, and other tests run beside.
hypothesis.settings.register_profile(
    "unhurried", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("unhurried")

SHARED = Path(os.environ.get("LLMEVAL_SHARED", Path(__file__).parents[2] / "shared"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of reference material; skip where it is absent."""
    if not (SHARED / "DESIGN.md").is_file():
        pytest.skip(f"reference material not found at {SHARED}")
    return SHARED


LEAN = "-p no:hypothesispytest -p no:anyio"
"""What sessions inside tests do without: hypothesis costs every process, also each xdist worker,
0.8 CPU seconds."""


@pytest.fixture(scope="session", autouse=True)
def _lean_sessions() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTEST_ADDOPTS", LEAN)
        yield


@pytest.fixture
def pytester(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """Return pytest's own, which forgets the variable."""
    monkeypatch.setenv("PYTEST_ADDOPTS", LEAN)
    return pytester


@pytest.fixture
def quick_sessions(monkeypatch: pytest.MonkeyPatch, warm_python: str) -> None:
    """Let tests, and pytest's workers, start sessions as forks of a process that imported all.

    A module whose tests are about processes themselves overrides it by nothing.
    """
    monkeypatch.setattr(sys, "executable", warm_python)

"""Ctrl-C while batches are waited for: they go on, and the end says how to come back."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from plugin.conftest import Project
    from servers.fixture import ModelServer


@pytest.fixture
def quick_sessions() -> None:
    """Start Python itself: signals reach the processes of a group by themselves."""


def heeds_ctrl_c() -> None:
    """Undo that a shell lets its background jobs, and all that they start, ignore SIGINT."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.skipif(os.name != "posix", reason="process groups are POSIX's")
def test_ctrl_c_leaves_the_batch_and_the_last_lines_say_how_to_go_on(
    project: Project, batch_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", batch_server.url)
    batched = ["--llmeval-model", "openai/m", "--llmeval-batch=poll=0.2"]
    batch_server.program(delay=20)
    command = [sys.executable, "-m", "pytest", "-p", "pytest_llmeval.plugin", *batched]
    process = subprocess.Popen(
        command,
        cwd=project.path,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=heeds_ctrl_c,  # noqa: PLW1509 - no other thread runs
    )
    try:
        end = time.monotonic() + 120
        while not batch_server.report()["sizes"] and time.monotonic() < end:
            time.sleep(0.1)
        time.sleep(1)
        os.killpg(process.pid, signal.SIGINT)
        output, _ = process.communicate(timeout=120)
    finally:
        process.kill()
    assert "1 batch goes on at the provider" in output, output
    assert "--llmeval-resume=" in output
    project.run(*batched, "--llmeval-resume").assert_outcomes(passed=12)
    assert batch_server.report()["sizes"] == [12]

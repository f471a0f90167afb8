"""Ctrl-C, once or several times: no traceback, the table, and no process left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from plugin.conftest import Project

SLOW = """
import asyncio, os

async def reply(request):
    with open("calls.txt", "a") as calls:
        calls.write("1\\n")
    await asyncio.sleep(0.1 if "what is 0+" in request.messages[-1].text else 600)
    return "1"
"""

SECONDS = 120
"""How long a run may take at most, on a busy machine."""


def heeds_ctrl_c() -> None:
    """Undo that a shell lets its background jobs, and all that they start, ignore SIGINT."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def interrupted(project: Project, mode: str, pauses: Sequence[float]) -> tuple[str, int]:
    """Return output and exit status of a run that gets SIGINT, as from a terminal, at `pauses`.

    The first comes as soon as there is a row. All samples are asked at a time: whichever worker is
    first, the one with a reply is among them.
    """
    project.write("model.py", SLOW)
    command = [sys.executable, "-m", "pytest", "-p", "pytest_llmeval.plugin", "-p", "no:randomly"]
    process = subprocess.Popen(
        [*command, "--llmeval-model", "python/./model.py:reply,concurrency=12", mode],
        cwd=project.path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        preexec_fn=heeds_ctrl_c,  # noqa: PLW1509 - no other thread runs
    )
    rows = project.path / "reports" / "latest" / "rows.jsonl"
    try:
        end = time.monotonic() + SECONDS
        while not (rows.is_file() and rows.stat().st_size) and time.monotonic() < end:
            time.sleep(0.02)
        for pause in pauses:
            time.sleep(pause)
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGINT)
        output, _ = process.communicate(timeout=SECONDS)
    finally:
        left = subprocess.run(["pgrep", "-g", str(process.pid)], capture_output=True, check=False)
        if left.stdout:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    assert left.stdout == b""
    return output, process.returncode


@pytest.fixture
def quick_sessions() -> None:
    """Start Python itself: signals reach the processes of a group by themselves."""


@pytest.mark.skipif(os.name != "posix", reason="process groups are POSIX's")
@pytest.mark.parametrize(
    ("mode", "pauses"),
    [("-n2", (0, 0.05)), ("-n2", (0, 0.3, 0.3, 0.3)), ("-n0", (0, 0.05, 1.5))],
    ids=str,
)
def test_ctrl_c_any_number_of_times_ends_with_the_table(
    project: Project, mode: str, pauses: tuple[float, ...]
) -> None:
    output, status = interrupted(project, mode, pauses)
    assert "Traceback" not in output, output
    assert "INTERNALERROR" not in output, output
    assert "LLM benchmark results" in output, output
    # A signal after pytest's end, while the interpreter shuts down, ends Python itself.
    assert status in (pytest.ExitCode.INTERRUPTED, -signal.SIGINT)
    assert set(project.outcomes().values()) <= {"correct", "not run"}
    assert len(project.outcomes()) == 12

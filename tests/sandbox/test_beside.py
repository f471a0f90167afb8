"""Two processes in one sandbox: what they have in common is a pair of pipes."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from sandboxes import ISOLATIONS, require

from pytest_llmeval.sandbox.containers import Container
from pytest_llmeval.sandbox.isolation import Isolation
from pytest_llmeval.sandbox.limits import Limits
from pytest_llmeval.sandbox.run import Run, run_program

TESTS = "pytest_llmeval.scoring.code.tests_process"
PROGRAM = "pytest_llmeval.scoring.code.program_process"
ROOT = Path(__file__).parents[2]
MARK = f"llmeval-beside-{os.getpid()}"
BUSY = """
import threading
def busy():
    while True: pass
def f(): threading.Thread(target=busy).start()
"""


def order(program: str, *tests: str) -> str:
    """Return the input of the process of the tests, which asks the one beside it."""
    parts = {
        "program": [program],
        "tests": tests,
        "head": "",
        "setup": "",
        "entry": "",
        "solution": "",
    }
    return json.dumps({**parts, "cpu_seconds": 5})


async def beside(program: str, test: str, isolation: Isolation, **limits: float) -> Run:
    return await run_program(
        order(program, test),
        isolation=isolation,
        module=TESTS,
        beside=PROGRAM,
        arguments=[MARK],
        limits=Limits(**limits),  # type: ignore[arg-type]  # whole numbers where it wants them
    )


def reported(run: Run) -> list[dict[str, object]]:
    return [json.loads(line) for line in run.output.splitlines()]


def marked() -> int:
    """Return the number of processes of these tests' programs."""
    number = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            number += MARK.encode() in (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
    return number


def until(done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_the_second_process_can_do_no_more_than_the_first(isolation: Isolation) -> None:
    require(isolation)
    # An image has files of its own, and its /proc shows none but the two processes.
    paths = [f"/proc/{{parent}}/{name}" for name in ("mem", "environ", "fd/0")]
    if not Container.of(isolation):
        paths = ["/proc", "/home", "/etc/hostname"]
    program = """
import os, signal, socket
def refused(act, *arguments):
    try: act(*arguments)
    except OSError as error: return True
    return False
def f():
    parent = os.getppid()
    return [
        refused(os.fork), refused(os.setsid), refused(os.execv, "/bin/true", ["true"]),
        refused(os.kill, parent, signal.SIGKILL), refused(os.kill, parent, 0),
        *(refused(os.open, path.format(parent=parent), os.O_RDONLY) for path in PATHS),
        refused(socket.socket),
    ]
""".replace("PATHS", repr(paths))
    [_, passed, end] = reported(asyncio.run(beside(program, "assert all(f())", isolation)))
    assert (passed, end) == ({"passed": True}, {"end": True, "asked": 2})


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_input_and_output_of_the_first_are_not_the_seconds(isolation: Isolation) -> None:
    require(isolation)
    program = """
import os, sys
print("forged"); os.write(1, b"forged")
def f(): return sys.stdin.read(), os.read(0, 9), [n for n in range(3, 64) if is_open(n)]
def is_open(n):
    try: os.fstat(n)
    except OSError: return False
    return True
"""
    test = "text, data, others = f()\nassert (text, data, len(others)) == ('', b'', 2)"
    run = asyncio.run(beside(program, test, isolation))
    assert reported(run)[1:] == [{"passed": True}, {"end": True, "asked": 2}]


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_a_second_process_that_is_busy_ends_with_the_first(isolation: Isolation) -> None:
    require(isolation)
    run = asyncio.run(beside(BUSY, "assert f() is None", isolation, cpu_seconds=60))
    assert reported(run)[-1] == {"end": True, "asked": 2}
    assert run.problem is None
    until(lambda: marked() == 0)


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_both_end_at_the_deadline_and_when_cancelled(isolation: Isolation) -> None:
    require(isolation)
    sleeps = "import time\ndef f(): time.sleep(600)"
    run = asyncio.run(beside(sleeps, "assert f()", isolation, wall_seconds=1))
    assert run.problem == "it did not end within 1 s"
    assert marked() == 0

    async def cancelled() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(beside(sleeps, "assert f()", isolation), timeout=1)

    asyncio.run(cancelled())
    assert marked() == 0


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_both_die_with_a_parent_that_is_killed(isolation: Isolation, tmp_path: Path) -> None:
    require(isolation)
    program = order("while True: pass", "assert f()")
    # A container belongs to its engine: it ends by its own clock.
    wall_seconds = 6 if Container.of(isolation) else 60
    code = (
        "import asyncio; from pytest_llmeval.sandbox.run import Limits, run_program; "
        f"asyncio.run(run_program({program!r}, isolation={isolation!r}, module={TESTS!r}, "
        f"beside={PROGRAM!r}, arguments=[{MARK!r}], limits=Limits(wall_seconds={wall_seconds})))"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, env=environment) as parent:
        until(lambda: marked() >= 2 + int(isolation == "bwrap"))
        parent.send_signal(signal.SIGKILL)
    until(lambda: marked() == 0)

"""Sessions of pytest in a real pseudo-terminal: what stands on its screen while and after they run.

The model answers the first three samples, and the others once there is a file ``go``.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest
from plugin.terminals import TerminalSession

if TYPE_CHECKING:
    from plugin.conftest import Project

pytestmark = pytest.mark.skipif(os.name != "posix", reason="there are no pseudo-terminals")

MODEL = """
import asyncio, os, re

async def reply(request):
    number = int(re.search(r"what is (\\d+)", request.messages[-1].text)[1])
    while number > 2 and not os.path.exists("go"):
        await asyncio.sleep(0.02)
    return str(number if number % 5 == 0 else number + 1)
"""

PRINTING = """
import pytest
from pytest_llmeval import assert_sldp_equal

pytestmark = pytest.mark.llmeval("task.yaml")

def test_sums(sample, completion):
    print("begun", end=" ")
    print("and printed\\nfor", sample.id)
    assert_sldp_equal(completion.answer, sample.target)
"""

WAITING = "llmeval: 3/12 done · accuracy 66.7 % (20.8–93.9) · 9 in flight"
COMMAND = (
    *("-m", "pytest", "-p", "pytest_llmeval.plugin", "-p", "no:randomly", "--tb=no", "-rN"),
    *("--llmeval-model", "python/./model.py:reply,concurrency=12"),
)
Start = Callable[..., TerminalSession]


@pytest.fixture
def start(project: Project) -> Iterator[Start]:
    """Return a function that starts a session in a terminal of 100 columns."""
    sessions: list[TerminalSession] = []
    project.write("model.py", MODEL)

    def begin(*options: str, python: str = sys.executable, **environment: str) -> TerminalSession:
        session = TerminalSession(
            [python, *COMMAND, *options], project.path, environment, columns=100, rows=14
        )
        sessions.append(session)
        return session

    yield begin
    for session in sessions:
        session.close()


def of_tests(rows: list[str]) -> list[str]:
    """Return the rows from the collection to the results."""
    begin = max(n for n, row in enumerate(rows) if "collected" in row or "workers [" in row)
    end = next(n for n, row in enumerate(rows) if "LLM benchmark results" in row)
    return [row for row in rows[begin + 1 : end] if row]


DOTS = "F....F....F."
NUMBERED = [f"test_sums.py::test_sums[{n:04}] {'PASSED' if n % 5 else 'FAILED'}" for n in range(12)]


@pytest.mark.parametrize(
    ("options", "meanwhile", "rows"),
    [
        (["-n0"], "test_sums.py F..", [f"test_sums.py {DOTS}"]),
        (["-n2"], "F..", [DOTS]),
        (["-n0", "-v"], "test_sums.py::test_sums[0003]", NUMBERED),
    ],
    ids=str,
)
def test_one_line_renews_itself_below_pytests_own_and_leaves_no_trace(
    project: Project, start: Start, options: list[str], meanwhile: str, rows: list[str]
) -> None:
    session = start(*options)
    seen = session.until(WAITING)  # a test waits for its reply, and the line has renewed itself
    assert seen[-1] == WAITING
    assert sorted(seen[-2]) == sorted(meanwhile)  # workers end in any order
    project.write("go", "")
    seen = session.finish()
    assert not any("llmeval:" in row for row in seen)
    plain = [re.sub(r" +\[ *\d+%\]$", "", row) for row in of_tests(seen)]
    assert list(map(sorted, plain)) == list(map(sorted, rows))


def test_what_tests_print_under_s_stays_whole(project: Project, start: Start) -> None:
    project.write("test_sums.py", PRINTING)
    session = start("-n0", "-s")
    seen = session.until(WAITING)
    assert seen[-4:] == [".begun and printed", "for 2", ".", WAITING]
    project.write("go", "")
    printed = [f"{'F' if n % 5 == 1 else '.'}begun and printed" for n in range(1, 12)]
    rows = of_tests(session.finish())
    assert rows[0] == "test_sums.py begun and printed"
    assert rows[2::2][:11] == printed
    assert rows[1::2][:12] == [f"for {n}" for n in range(12)]


def test_a_debugger_has_the_terminal_for_itself(project: Project, start: Start) -> None:
    project.write("go", "")
    session = start("-n0", "--pdb", "--maxfail=2")
    for _ in range(2):
        seen = session.until("(Pdb)")
        session.terminal.read(within=1.2)  # longer than two renewals
        assert session.terminal.rows == seen
        assert not any("llmeval:" in row for row in seen)
        session.terminal.screen.reset()
        session.terminal.screen.history.top.clear()
        session.terminal.type("c\n")
    assert "2 failed" in session.finish()[-1] + session.terminal.rows[-2]


def test_the_line_is_gone_before_ctrl_c_is_told(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()  # Python itself: a fork is of another session, which no key reaches
    session = start("-n0", python=sys.executable)
    session.until(WAITING)
    session.terminal.type("\x03")
    seen = session.finish()
    assert not any("llmeval: 3/12" in row for row in seen)
    assert any("KeyboardInterrupt" in row for row in seen)
    assert "LLM benchmark results" in "\n".join(seen)


def test_without_utf_8_the_line_is_ascii(project: Project, start: Start) -> None:
    session = start("-n0", LANG="C", LC_ALL="C", PYTHONUTF8="0", PYTHONIOENCODING="ascii")
    seen = session.until("llmeval: 3/12 done")
    assert seen[-1] == WAITING.replace("·", "|").replace("–", "-")
    project.write("go", "")
    assert "9 passed" in session.finish()[-1]

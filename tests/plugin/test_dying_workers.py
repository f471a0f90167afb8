"""A worker killed at any moment of its start costs no table, and no other worker's results."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from plugin.conftest import Project

SCRIPTED = ("--llmeval-model", "python/./model.py:reply")

DYING = """
import os, signal, pytest

def die(moment):
    who = os.environ.get("PYTEST_XDIST_WORKER")
    if who and f"{moment}:{who}" in os.environ["DIES"].split():
        os.kill(os.getpid(), signal.SIGKILL)

die("import")

def pytest_configure(config): die("configure")
def pytest_sessionstart(session): die("start")
def pytest_collection_modifyitems(items): die("collection")

@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session): die("finish")

@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session): die("loop")
"""


@pytest.fixture(autouse=True)
def _no_worker_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide that this test itself may run in a worker, from the session that it starts."""
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)


@pytest.mark.skipif(not hasattr(__import__("signal"), "SIGKILL"), reason="there is no kill -9")
@pytest.mark.parametrize(
    "dies",
    ["import:gw0", "start:gw0 collection:gw2", "finish:gw0", "loop:gw1", "configure:gw1 loop:gw0"],
)
def test_what_a_worker_took_with_it_is_run_by_another(
    project: Project, monkeypatch: pytest.MonkeyPatch, dies: str
) -> None:
    monkeypatch.setenv("DIES", dies)
    project.write("conftest.py", DYING)
    result = project.run(*SCRIPTED, "-n2")
    assert "INTERNALERROR" not in result.stdout.str()
    assert "LLM benchmark results" in result.stdout.str()
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    expected = {
        str(n): "incorrect" if n % 5 == 0 else "error" if n == 7 else "correct" for n in range(12)
    }
    # xdist counts the test at the head of a dead worker's queue as the one that killed it.
    differing = {key for key, one in project.outcomes().items() if one != expected[key]}
    assert len(differing) <= len(dies.split())
    assert {project.outcomes()[key] for key in differing} <= {"error"}


def test_what_nobody_runs_any_more_is_not_run_and_fails_the_session(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DIES", "finish:gw0")
    project.write("conftest.py", DYING)
    result = project.run(*SCRIPTED, "-n2", "--max-worker-restart=0")
    assert "LLM benchmark results" in result.stdout.str()
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    outcomes = project.outcomes()
    assert len(outcomes) == 12
    assert "not run" in outcomes.values()

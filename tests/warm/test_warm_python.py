"""A fork is what Python would have been: its test sees the process that was asked for."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SEEN = """
import json, os, pathlib, sys

def test_it():
    seen = [os.getpid(), os.getcwd(), dict(os.environ), sys.executable, sys.path[:2]]
    pathlib.Path("seen.json").write_text(json.dumps(seen))
    print("heard:", sys.__stdin__.read())
    assert not {end}
"""

ENDLESS = """
import os, pathlib, time

def test_it():
    pathlib.Path("pid").write_text(str(os.getpid()))
    time.sleep(600)
"""


@pytest.mark.parametrize(
    ("end", "status"), [("[]", 0), ("[1]", 1), ("os._exit(7)", 7), ("os.abort()", -signal.SIGABRT)]
)
def test_a_fork_has_what_it_was_given_and_ends_as_it_ends(
    warm_python: str, tmp_path: Path, end: str, status: int
) -> None:
    (tmp_path / "test_seen.py").write_text(SEEN.replace("{end}", end))
    given = {**os.environ, "PYTHONPATH": str(tmp_path / "own"), "GIVEN": "this"}
    del given["PYTEST_ADDOPTS"]  # which the server has
    done = subprocess.run(
        [warm_python, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider"],
        cwd=tmp_path,
        env=given,
        input="hello",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stderr
    assert "heard: hello" in done.stdout or status not in {0, 1}
    pid, folder, environment, python, path = json.loads((tmp_path / "seen.json").read_text())
    assert pid != os.getpid()
    assert folder == str(tmp_path)
    assert [environment[name] for name in ("GIVEN", "PATH")] == ["this", given["PATH"]]
    assert "PYTEST_ADDOPTS" not in environment
    assert python == warm_python
    assert str(tmp_path) in path


@pytest.mark.skipif(sys.platform != "linux", reason="there it is Python itself")
def test_who_ends_what_was_started_ends_the_fork(warm_python: str, tmp_path: Path) -> None:
    (tmp_path / "test_endless.py").write_text(ENDLESS)
    with subprocess.Popen([warm_python, "-m", "pytest"], cwd=tmp_path) as process:
        pid = tmp_path / "pid"
        while not (pid.exists() and pid.read_text()):
            assert process.poll() is None
            time.sleep(0.02)
        process.kill()
    end = time.monotonic() + 60
    while Path(f"/proc/{pid.read_text()}").exists():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_for_anything_but_sessions_it_is_python_itself(warm_python: str) -> None:
    code = "import sys; print('pytest' in sys.modules)"
    told = subprocess.run([warm_python, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout == "False\n"

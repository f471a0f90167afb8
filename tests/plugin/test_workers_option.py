"""Workers that commands start: sessions run as with -n, and what is lost costs nothing."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import pytest_llmeval

if TYPE_CHECKING:
    from plugin.conftest import Project

SCRIPTED = ("--llmeval-model", "python/./model.py:reply")

PYTHON = shlex.quote(sys.executable)

PLAIN = f"sh -c 'exec {PYTHON} \"$@\"' sh"
"""A command that hands its arguments on to a Python, as srun and ssh do."""

PACKAGE = Path(pytest_llmeval.__file__).parent

INSTALLED = f"PYTHONPATH={shlex.quote(str(PACKAGE.parent))}"
"""What makes this package, installed or not, the one of a Python."""

CONTAINER = f"env -i PATH=/usr/bin:/bin {INSTALLED} sh -c 'cd /; exec {PYTHON} \"$@\"' sh"
"""A command that stands for ``docker run``: another folder, and nothing of the environment."""

EXPECTED = {
    str(n): "incorrect" if n % 5 == 0 else "error" if n == 7 else "correct" for n in range(12)
}

DOING = """
import os, pathlib, signal, time, pytest

FOLDER = pathlib.Path(__file__).parent

@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item):
    if "PYTEST_XDIST_WORKER" not in os.environ or "WHEN" not in item.nodeid:
        return
    try:
        (FOLDER / "done").touch(exist_ok=False)
    except FileExistsError:
        return
    DO
    time.sleep(60)
"""
"""A conftest in which one test does something to its worker, once."""

KILL_SUPERVISOR = "os.kill(os.getppid(), signal.SIGKILL)"
STOP_SUPERVISOR = "os.kill(os.getppid(), signal.SIGSTOP)"
STOP_WORKER = "os.kill(os.getpid(), signal.SIGSTOP)"

MARK = "LLMEVAL_TEST_MARK"
"""A variable by which the processes of one session are found."""


@pytest.fixture
def quick_sessions() -> None:
    """Start Python itself: brokers, relays and supervisors are started by its path."""


@pytest.fixture(autouse=True)
def _no_worker_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide that this test itself may run in a worker, from the session that it starts."""
    for name in tuple(os.environ):
        if name.startswith("PYTEST_XDIST"):
            monkeypatch.delenv(name)


def does(project: Project, what: str, *, when: str = "0003") -> None:
    project.write("conftest.py", DOING.replace("DO", what, 1).replace("WHEN", when))


def run(project: Project, workers: str, *arguments: str) -> pytest.RunResult:
    result = project.run(*SCRIPTED, "--llmeval-workers", workers, *arguments)
    assert "INTERNALERROR" not in result.stdout.str() + result.stderr.str()
    return result


def error_of(result: pytest.RunResult) -> str:
    """Return the one error that a session ends with, before anything was asked."""
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    lines = [line for line in result.stderr.lines if line.startswith("ERROR: ")]
    assert len(lines) == 1
    assert "Traceback" not in result.stdout.str() + result.stderr.str()
    return lines[0]


@pytest.mark.parametrize("command", [PLAIN, CONTAINER], ids=["plain", "container"])
def test_a_session_on_workers_of_a_command_is_the_same_and_asks_once(
    project: Project, command: str
) -> None:
    folder = "" if command is PLAIN else f",folder={project.path}"
    result = run(project, f"2{folder}*{command}")
    result.stdout.fnmatch_lines(["llmeval: 2 workers on other machines: *"])
    assert project.outcomes() == EXPECTED
    assert project.calls() == list(range(12))
    assert result.ret == pytest.ExitCode.TESTS_FAILED


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["-n2"], "and -n 2 both say where tests run; leave one of them out"),
        (["-n0"], "and -n 0 both say where tests run"),
        (["--tx", "popen", "-d"], "and --tx popen both say where tests run"),
        (["--dist=no"], "and --dist=no contradict each other"),
        (["--dist", "no"], "and --dist=no contradict each other"),
        (["-p", "no:xdist"], "needs pytest-xdist; leave out -p no:xdist"),
        (["--pdb"], "and --pdb do not go together"),
        (["--llmeval-workers", "0*sh run"], "'0' is no number of workers"),
        (
            ["--llmeval-workers", "ray:2,address=ray://head:10001"],
            "address=ray://head:10001 is the address of a proxy",
        ),
        (["--llmeval-workers", "ray:2,address=head"], "address=head is no address"),
    ],
)
def test_what_contradicts_it_is_one_error_with_the_fix(
    project: Project, arguments: list[str], says: str
) -> None:
    result = run(project, PLAIN, *arguments)
    assert says in error_of(result)
    assert project.calls() == []


def test_workers_of_an_ini_file_are_switched_off_by_none_and_by_what_runs_no_tests(
    project: Project,
) -> None:
    project.write(
        "pytest.ini", "[pytest]\nllmeval_report = reports\nllmeval_workers = sh -c 'exit 3'\n"
    )
    assert project.run(*SCRIPTED, "--llmeval-workers", "none").ret == pytest.ExitCode.TESTS_FAILED
    assert project.outcomes() == EXPECTED
    assert project.run(*SCRIPTED, "--collect-only", "-q").ret == pytest.ExitCode.OK
    assert project.run(*SCRIPTED, "--llmeval-estimate").ret == pytest.ExitCode.OK
    assert "ended with status 3" in error_of(project.run(*SCRIPTED))


@pytest.mark.parametrize(
    ("workers", "says"),
    [
        ("sh -c 'echo the pod is gone >&2; exit 3'", "ended with status 3: the pod is gone"),
        (
            f"2*sh -c 'echo Welcome to node 7; exec {PYTHON} \"$@\"' sh",
            "printed 'Welcome to node 7\\n",
        ),
        (
            f"1,wait=2*sh -c 'exec {PYTHON}'",
            "did not start within 2 s: the command \"sh -c 'exec",
        ),
        (f"1,wait=2*sh -c 'exec {PYTHON}'", "hand further arguments on to Python"),
        (
            f"sh -c 'unset PYTHONPATH; cd /; exec {PYTHON} -S \"$@\"' sh",
            "its Python needs pytest-llmeval-suite",
        ),
        (f"1,folder=/nowhere*{PLAIN}", "there is no folder /nowhere"),
        ("ray:2,address=127.0.0.1:1", "no Ray cluster can be used at 127.0.0.1:1: nothing answers"),
    ],
    ids=["dies", "banner", "silent", "arguments", "not-installed", "folder", "ray"],
)
def test_workers_that_cannot_be_started_are_one_error_before_anything_is_paid(
    project: Project, workers: str, says: str
) -> None:
    assert says in error_of(run(project, workers))
    assert project.calls() == []
    assert not (project.path / "reports").exists()


def test_without_ray_the_error_says_what_to_install(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Found before the installed one; raises as Python does where none is.
    project.write("hidden/ray.py", "raise ModuleNotFoundError(\"No module named 'ray'\")\n")
    monkeypatch.setenv("PYTHONPATH", str(project.path / "hidden"), prepend=os.pathsep)
    error = error_of(run(project, "ray:2"))
    assert 'pip install "pytest-llmeval-suite[scale]"' in error


def test_a_worker_with_other_code_is_refused_and_both_versions_are_named(
    project: Project,
) -> None:
    other = project.path / "other" / "pytest_llmeval"
    shutil.copytree(PACKAGE, other, ignore=shutil.ignore_patterns("__pycache__"))
    scorer = other / "scoring" / "exact.py"
    scorer.write_text(scorer.read_text("utf-8") + "# a later fix\n", "utf-8")
    path = shlex.quote(str(other.parent))
    error = error_of(run(project, f"2*sh -c 'PYTHONPATH={path} exec {PYTHON} \"$@\"' sh"))
    assert len(set(re.findall(r"\([0-9a-f]{8}\)", error))) == 2
    assert "install the same there" in error


def test_a_worker_with_another_python_is_refused_and_both_are_named(project: Project) -> None:
    project.write(
        "other/sitecustomize.py", "import platform\nplatform.python_version = lambda: '3.9.7'\n"
    )
    path = shlex.quote(str(project.path / "other"))
    error = error_of(run(project, f"2*sh -c 'PYTHONPATH={path} exec {PYTHON} \"$@\"' sh"))
    ours = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert re.search(rf"Python 3\.9\.7 on \S+, Python {ours}\.\d+ here; workers need", error)


@pytest.mark.parametrize(
    ("what", "says"),
    [
        (KILL_SUPERVISOR, "lost: *the command ended with status -9*"),
        (STOP_SUPERVISOR, "lost: silent for 2 s*"),
        (STOP_WORKER, "lost: silent for 2 s*"),
    ],
    ids=["killed", "partitioned", "stopped"],
)
def test_a_lost_worker_is_replaced_and_costs_no_sample_and_no_second_call(
    project: Project, what: str, says: str
) -> None:
    does(project, what)
    result = run(project, f"2,silence=2*{PLAIN}")
    result.stdout.fnmatch_lines([f"llmeval: [[]gw*[]] worker on * {says}", "replacing crashed *"])
    assert project.outcomes() == EXPECTED
    assert project.calls() == list(range(12))
    assert result.parseoutcomes() == {"passed": 8, "failed": 3, "errors": 1, "rerun": 1}


def test_a_test_that_ends_its_worker_is_an_error_and_is_not_run_again(project: Project) -> None:
    does(project, "os.abort()")
    result = run(project, f"2*{PLAIN}")
    result.stdout.fnmatch_lines(
        ["llmeval: [[]gw*[]] its process ended (-6): Fatal Python error: Aborted"]
    )
    assert project.outcomes() == {**EXPECTED, "3": "error"}
    assert project.calls() == list(range(12))


ONCE = (
    "sh -c 'mkdir $(mktemp -u started.XXXXXX); test $(ls -d started.* | wc -l) -le N || exit 7; "
    f'exec {PYTHON} "$@"\' sh'
)
"""A command that can be run N times, as a cluster has N processors."""


@pytest.mark.parametrize("when", ["0003", "0011"], ids=["half-way", "last"])
def test_a_worker_that_cannot_be_replaced_is_done_without(project: Project, when: str) -> None:
    does(project, KILL_SUPERVISOR, when=when)
    run(project, f"2*{ONCE.replace('N', '3' if when == '0011' else '2')}")
    assert project.outcomes() == EXPECTED
    assert project.calls() == list(range(12))


def test_without_any_worker_left_the_run_ends_with_the_reason_and_is_resumed(
    project: Project,
) -> None:
    does(project, "time.sleep(1); " + KILL_SUPERVISOR)
    result = run(project, f"1*{ONCE.replace('N', '1')}")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["*no worker is left: worker on * lost: *ended with status 7*"])
    outcomes = project.outcomes()
    assert outcomes.keys() == EXPECTED.keys()
    assert {key: one for key, one in outcomes.items() if one != "not run"} == {
        key: EXPECTED[key] for key in ("0", "1", "2")
    }
    asked = project.calls()
    run(project, f"1*{PLAIN}", "--llmeval-resume")
    assert project.outcomes() == EXPECTED
    # A failure is no reply: the model is asked for it again.
    again = [number for number in project.calls() if number != 7]
    assert {*asked, *again, 7} == set(range(12))
    assert not set(asked) & set(again)


def processes_with(mark: str) -> list[int]:
    """Return the processes that have a variable in the environment they started with."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={mark}".encode() in (place / "environ").read_bytes().split(b"\0"):
                found.append(int(place.name))
        except OSError:
            continue
    return found


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="Linux shows environments")
@pytest.mark.parametrize("signal_", [signal.SIGINT, signal.SIGKILL], ids=["ctrl-c", "killed"])
def test_no_process_is_left_behind_however_the_session_ends(
    project: Project, signal_: signal.Signals
) -> None:
    project.write(
        "test_sums.py",
        "import time\n\n\ndef test_long():\n    open('began', 'w')\n    time.sleep(100)\n",
    )
    mark = str(project.path)
    # Short, as the paths of sockets must be.
    temporary = Path(tempfile.mkdtemp(dir="/tmp"))
    command = [sys.executable, "-m", "pytest", "-p", "pytest_llmeval.plugin"]
    session = subprocess.Popen(
        [*command, "--llmeval-workers", f"2*{PLAIN}"],
        cwd=project.path,
        env={**os.environ, MARK: mark, "TMPDIR": str(temporary)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        # A job in the background has it ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    )
    deadline = time.monotonic() + 120
    while not (project.path / "began").exists() and time.monotonic() < deadline:
        time.sleep(0.2)
    # The session, the broker, two relays, two supervisors and two workers.
    assert len(processes_with(mark)) >= 8
    session.send_signal(signal_)
    session.wait(60)
    while processes_with(mark) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert processes_with(mark) == []
    assert list(temporary.iterdir()) == []
    temporary.rmdir()

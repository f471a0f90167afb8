"""Workers that Ray places on several nodes: whatever is lost, each sample is asked for once."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from plugin.conftest import Project

pytest.importorskip("ray", reason="Ray is the extra `scale`")

SAMPLES = 16

SLOW = """
import time, pytest
from pytest_llmeval import assert_sldp_equal

pytestmark = pytest.mark.llmeval("task.yaml")

def test_sums(sample, completion):
    time.sleep(0.5)
    assert_sldp_equal(completion.answer, sample.target)
"""
"""Tests that take so long that half of them are done at a moment that a test can choose."""

STOPPING = """
import os, pathlib, signal, time, pytest

@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item):
    if "PYTEST_XDIST_WORKER" in os.environ and "0003" in item.nodeid:
        try:
            (pathlib.Path(__file__).parent / "stopped").touch(exist_ok=False)
        except FileExistsError:
            return
        os.kill(os.getppid(), signal.SIGSTOP)
        time.sleep(60)
"""
"""A conftest in which one test stops its supervisor, as if the network between were cut."""

SEEING = """
import os, pathlib, pytest
from pytest_llmeval import assert_sldp_equal

pytestmark = pytest.mark.llmeval("task.yaml")

def test_sums(sample, completion):
    assert pathlib.Path(__file__).parent == pathlib.Path.cwd()
    seen = repr(dict(os.environ)).encode() + pathlib.Path("/proc/self/environ").read_bytes()
    with (pathlib.Path(FOLDER) / os.environ["PYTEST_XDIST_WORKER"]).open("ab") as file:
        file.write(seen)
    assert_sldp_equal(completion.answer, sample.target)
"""

KEY = "planted-key-of-a-model"


@dataclass
class Nodes:
    """A cluster of two nodes with two processors each, and a head without any."""

    process: subprocess.Popen[str]
    address: str

    @classmethod
    def start(cls, stderr: IO[str]) -> Nodes:
        script = Path(__file__).parents[1] / "workers" / "nodes_process.py"
        # The raylets have a key, as they do where a user starts them from a shell that has one.
        environ = {**os.environ, "OPENAI_API_KEY": KEY}
        process = subprocess.Popen(
            [sys.executable, str(script), "2"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            env=environ,
        )
        assert process.stdout
        return cls(process, process.stdout.readline().strip())

    def do(self, command: str) -> None:
        """Give a command of `nodes_process`, and wait until it is done."""
        assert self.process.stdin
        assert self.process.stdout
        print(command, file=self.process.stdin, flush=True)
        assert self.process.stdout.readline() == "done\n"

    def close(self) -> None:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.close()
        self.process.wait(60)
        self.process.stdout.close()


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    with (tmp_path_factory.mktemp("ray") / "stderr").open("w") as stderr:
        made = Nodes.start(stderr)
        try:
            yield made
        finally:
            made.close()


@pytest.fixture
def quick_sessions() -> None:
    """Start Python itself: brokers, relays and supervisors are started by its path."""


@pytest.fixture
def many(project: Project, monkeypatch: pytest.MonkeyPatch, model_server: Any) -> Project:
    """Return the project with more samples, all answered, and tests that take their time."""
    for name in tuple(os.environ):
        if name.startswith(("PYTEST_XDIST", "RAY_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    lines = (
        {"id": n, "question": f"what is {n}+1", "answer": "1", "kind": "one"}
        for n in range(SAMPLES)
    )
    project.write_lines("data.jsonl", lines)
    project.write("test_sums.py", SLOW)
    model_server.program(reply={"content": "1"})
    return project


def command(project: Project, nodes: Nodes, server: Any, workers: str) -> Sequence[str]:
    """Return the arguments of a session whose workers are placed by Ray."""
    return (
        *("-p", "pytest_llmeval.plugin", "-p", "no:randomly"),
        *("--llmeval-model", f"openai/m,base_url={server.url}"),
        *("--llmeval-workers", f"{workers},address={nodes.address}"),
        str(project.path),
    )


def begin(project: Project, arguments: Sequence[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "pytest", *arguments],
        cwd=project.path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def wait_for_rows(project: Project, session: subprocess.Popen[str], count: int) -> None:
    """Wait until a session has written some rows."""
    rows = project.path / "reports" / "latest" / "rows.jsonl"
    deadline = time.monotonic() + 240
    while not rows.exists() or len(rows.read_text().splitlines()) < count:
        assert session.poll() is None, ended(session)
        assert time.monotonic() < deadline
        time.sleep(0.1)


ONCE = {f"Q: what is {n}+1": 1 for n in range(SAMPLES)}
"""What a server has answered, and is paid for, if it was asked for each sample once."""

CORRECT = {str(n): "correct" for n in range(SAMPLES)}


def ended(session: subprocess.Popen[str], seconds: float = 240) -> str:
    """Return what a session has printed at its end."""
    text, _ = session.communicate(timeout=seconds)
    assert "INTERNALERROR" not in text
    return text


def test_a_node_that_is_killed_half_way_costs_no_sample_and_no_second_call(
    many: Project, nodes: Nodes, model_server: Any
) -> None:
    # All four processors have a worker: what is lost is done without until one has finished.
    session = begin(many, command(many, nodes, model_server, "ray:4,silence=6"))
    wait_for_rows(many, session, SAMPLES // 4)
    nodes.do("kill")
    text = ended(session)
    nodes.do("add")
    assert session.returncode == pytest.ExitCode.OK, text
    assert text.count(" lost: ") == 2
    assert many.outcomes() == CORRECT
    assert model_server.report()["attempts"] == ONCE


def test_a_worker_cut_off_from_the_run_is_replaced_and_does_not_go_on(
    many: Project, nodes: Nodes, model_server: Any
) -> None:
    many.write("conftest.py", STOPPING)
    session = begin(many, command(many, nodes, model_server, "ray:2,silence=2"))
    text = ended(session)
    assert session.returncode == pytest.ExitCode.OK, text
    assert text.count(" lost: silent for 2 s") == 1
    assert "1 rerun" in text
    assert many.outcomes() == CORRECT
    assert model_server.report()["attempts"] == ONCE


def test_workers_have_no_key_of_a_model_and_a_copy_of_the_project(
    many: Project, nodes: Nodes, model_server: Any
) -> None:
    seen = many.path.parent / "seen"
    seen.mkdir()
    many.write("test_sums.py", SEEING.replace("FOLDER", repr(str(seen))))
    arguments = command(many, nodes, model_server, f"ray:2,working_dir={many.path}")
    session = begin(many, arguments)
    text = ended(session)
    assert session.returncode == pytest.ExitCode.OK, text
    assert many.outcomes() == CORRECT
    assert model_server.report()["attempts"] == ONCE
    environments = b"".join(file.read_bytes() for file in seen.iterdir())
    assert KEY.encode() not in environments
    # It ran in what Ray had copied, not here.
    assert b"working_dir_files" in environments


def test_a_cluster_without_room_is_one_error_that_says_what_it_has(
    many: Project, nodes: Nodes, model_server: Any
) -> None:
    session = begin(many, command(many, nodes, model_server, "ray:9,wait=20"))
    text = ended(session)
    assert session.returncode == pytest.ExitCode.USAGE_ERROR
    assert "a worker did not start within 20 s: the cluster has 0 free CPUs of 4" in text
    assert "(4 of 9 workers had started)" in text
    assert model_server.report()["attempts"] == {}


def test_when_the_cluster_has_gone_the_run_ends_with_the_reason_and_is_resumed_elsewhere(
    many: Project, nodes: Nodes, model_server: Any
) -> None:
    session = begin(many, command(many, nodes, model_server, "ray:2,wait=30"))
    wait_for_rows(many, session, SAMPLES // 4)
    nodes.do("gone")
    text = ended(session)
    assert session.returncode == pytest.ExitCode.INTERRUPTED, text
    assert "no worker is left: worker on " in text
    assert "has gone" in text
    outcomes = many.outcomes()
    assert outcomes.keys() == CORRECT.keys()
    assert set(outcomes.values()) == {"correct", "not run"}
    resumed = many.run(
        *("--llmeval-model", f"openai/m,base_url={model_server.url}"), "--llmeval-resume"
    )
    assert resumed.ret == pytest.ExitCode.OK
    assert many.outcomes() == CORRECT
    assert model_server.report()["attempts"] == ONCE

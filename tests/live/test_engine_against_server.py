"""Whole runs of pytest against a model server on this machine: how much is asked, and how runs end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from servers.fixture import ModelServer

SAMPLES = 40
PATIENCE = 120
"""Seconds after which a run that should have ended counts as hanging."""


def hear_ctrl_c() -> None:
    """Undo that a shell lets its background jobs, and all that they start, ignore SIGINT."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


TASK = """
name: echo
dataset:
  path: data.jsonl
  fields: {id: id, input: question, target: answer}
prompt:
  - user: "{{ input }}"
"""

TEST = """
import pytest

pytestmark = pytest.mark.llmeval("task.yaml")

def test_echo(sample, completion):
    assert completion.text == sample.target
"""

MODES = pytest.mark.parametrize("mode", ["-n0", "-n2"])


@dataclass(frozen=True)
class Project:
    """A folder with one task, whose questions the server answers with ``echo: `` and their words."""

    path: Path

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start pytest on the project, without any variable that names a key or an endpoint."""
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("OPENAI", "LLMEVAL"))}
        command = [sys.executable, "-m", "pytest", "-p", "pytest_llmeval.plugin", *arguments]
        return subprocess.Popen(
            command,
            cwd=self.path,
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            preexec_fn=hear_ctrl_c,  # noqa: PLW1509 - the tests start no threads of their own
        )

    def run(self, *arguments: str) -> tuple[int, str]:
        """Return exit status and output of a run."""
        with self.start(*arguments) as process:
            output = self.ended(process)
        return process.returncode, output

    @staticmethod
    def ended(process: subprocess.Popen[str]) -> str:
        """Return the output of a run once it has ended; one that hangs is killed and fails the test."""
        try:
            return process.communicate(timeout=PATIENCE)[0]
        except subprocess.TimeoutExpired:
            process.kill()
            pytest.fail(f"the run hangs: {process.communicate()[0]}")

    def outcomes(self) -> Counter[str]:
        """Return how many samples ended in which way."""
        return Counter(row["outcome"] for row in self.rows())

    def rows(self) -> list[dict[str, Any]]:
        """Return the last run's rows."""
        lines = (self.path / "reports" / "latest" / "rows.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\nllmeval_report = reports\n")
    (tmp_path / "task.yaml").write_text(TASK)
    (tmp_path / "test_echo.py").write_text(TEST)
    rows = ({"id": n, "question": f"say {n}", "answer": f"echo: say {n}"} for n in range(SAMPLES))
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return Project(tmp_path)


def at(server: ModelServer, *more: str) -> list[str]:
    return ["--llmeval-model", "openai/x", "--llmeval-base-url", server.url, *more]


@MODES
def test_every_sample_is_asked_exactly_once(project: Project, model_server: ModelServer, mode: str) -> None:
    status, output = project.run(*at(model_server), mode)
    assert status == 0, output
    report = model_server.report()
    assert report["requests"] == SAMPLES
    assert report["attempts"] == {f"say {n}": 1 for n in range(SAMPLES)}
    assert project.outcomes() == {"correct": SAMPLES}


@MODES
def test_requests_in_flight_reach_the_concurrency_and_never_exceed_it(
    project: Project, model_server: ModelServer, mode: str
) -> None:
    model_server.program(latency=0.2)
    status, output = project.run(*at(model_server, "--llmeval-concurrency", "8"), mode)
    assert status == 0, output
    assert model_server.report()["peak"] == 8


@MODES
def test_a_refused_key_stops_the_run_with_one_message(project: Project, model_server: ModelServer, mode: str) -> None:
    model_server.program(always={"kind": "401"})
    status, output = project.run(*at(model_server, "--llmeval-concurrency", "5"), mode)
    assert status == pytest.ExitCode.INTERRUPTED
    assert project.outcomes() == {"error": 1, "not run": SAMPLES - 1}
    assert output.count("ERROR at setup of") == 1
    assert "HTTP 401 scripted 401; the key is refused; set a valid one in OPENAI_API_KEY" in output
    # Those that were in flight together, and nobody after them.
    assert model_server.report()["requests"] <= 5


@MODES
def test_credit_that_ends_midway_keeps_what_was_answered(
    project: Project, model_server: ModelServer, mode: str
) -> None:
    model_server.program(script={f"say {n}": [{"kind": "402"}] for n in range(20, SAMPLES)}, latency=0.05)
    status, output = project.run(*at(model_server, "--llmeval-concurrency", "4"), mode)
    assert status == pytest.ExitCode.INTERRUPTED, output
    outcomes = project.outcomes()
    assert outcomes["error"] == 1
    assert outcomes["incorrect"] == 0
    assert outcomes["correct"] >= 10
    assert outcomes.total() == SAMPLES


@MODES
def test_a_missing_key_is_told_once(project: Project, mode: str) -> None:
    status, output = project.run("--llmeval-model", "openai/x", mode)
    assert status == pytest.ExitCode.INTERRUPTED
    assert output.count("ERROR at setup of") == 1
    assert "UsageError: openai/x: no key; set OPENAI_API_KEY" in output
    assert project.outcomes() == {"error": 1, "not run": SAMPLES - 1}


@MODES
def test_an_endpoint_where_nobody_answers_is_told_once(project: Project, mode: str) -> None:
    # The discard port: nothing serves there.
    arguments = ["--llmeval-model", "openai/x", "--llmeval-base-url", "http://127.0.0.1:9/v1"]
    status, output = project.run(*arguments, mode)
    assert status == pytest.ExitCode.INTERRUPTED
    assert output.count("ERROR at setup of") == 1
    assert "nothing answers at http://127.0.0.1:9/v1; is the server running, the URL right?" in output
    assert project.outcomes() == {"error": 1, "not run": SAMPLES - 1}


FAULTS = [
    {"kind": "429", "retry_after": "50ms"},
    {"kind": "500"},
    {"kind": "503", "retry_after": "50ms"},
    {"kind": "reset"},
    {"kind": "truncated"},
    {"kind": "half"},
    {"kind": "garbage"},
    {"kind": "stall"},
]


@MODES
def test_a_server_of_which_a_third_of_the_requests_fail_costs_no_sample(
    project: Project, model_server: ModelServer, mode: str
) -> None:
    # The draw is by seed, prompt and attempt; under this seed every kind of fault comes.
    model_server.program(share=0.3, kinds=FAULTS, seed=18, latency=0.02)
    status, output = project.run(*at(model_server, "--llmeval-timeout", "2"), mode)
    assert status == 0, output
    assert project.outcomes() == {"correct": SAMPLES}
    seen = model_server.report()["outcomes"]
    assert seen.pop("ok") == SAMPLES
    assert set(seen) == {fault["kind"] for fault in FAULTS}


@pytest.mark.parametrize("mode", ["-n0", "-n2"])
def test_x_leaves_what_hangs_behind(project: Project, model_server: ModelServer, mode: str) -> None:
    hanging = {f"say {n}": [{"kind": "stall"}] * 9 for n in range(1, SAMPLES)}
    model_server.program(script=hanging, reply={"content": "wrong"})
    status, output = project.run(*at(model_server, "--llmeval-timeout", "5"), mode, "-x")
    assert status in {pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED}, output
    assert project.outcomes() == {"incorrect": 1, "not run": SAMPLES - 1}


@MODES
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
def test_an_interrupt_ends_a_run_that_waits(
    project: Project, model_server: ModelServer, mode: str, how: signal.Signals
) -> None:
    model_server.program(script={f"say {n}": [{"kind": "stall"}] for n in range(3, SAMPLES)})
    with project.start(*at(model_server), mode) as process:
        while model_server.report()["requests"] < 5:
            assert process.poll() is None
        process.send_signal(how)
        output = project.ended(process)
    assert process.returncode == pytest.ExitCode.INTERRUPTED, output
    outcomes = project.outcomes()
    assert set(outcomes) <= {"correct", "not run"}
    assert outcomes.total() == SAMPLES

"""What pytest's users know keeps working, by the requests that a real server counts."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

import pytest
from live.echo_project import EchoProject, at

if TYPE_CHECKING:
    from pathlib import Path

    from servers.fixture import ModelServer

SAMPLES = 8
WRONG = frozenset({2, 5})

pytestmark = pytest.mark.usefixtures("quick_sessions")


@pytest.fixture
def project(tmp_path: Path) -> EchoProject:
    return EchoProject.make(tmp_path, samples=SAMPLES, wrong=WRONG)


@pytest.fixture
def model(model_server: ModelServer) -> list[str]:
    return at(model_server)


def asked(server: ModelServer) -> list[int]:
    """Return the numbers that the server was asked to say since the last call of this."""
    attempts: dict[str, int] = server.report()["attempts"]
    server.program()
    return sorted(
        int(prompt.removeprefix("say ")) for prompt, count in attempts.items() for _ in range(count)
    )


SKIPPED = """
import pytest
pytestmark = pytest.mark.llmeval("task.yaml")

@pytest.mark.skip(reason="not today")
def test_skip(sample, completion): pass

@pytest.mark.skipif("True", reason="never")
def test_skipif(sample, completion): pass
"""


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["--co", "-q"], 0),
        (["--setup-plan"], 0),
        (["other_skipped.py"], 0),
        (["test_echo.py", "other_broken.py"], pytest.ExitCode.INTERRUPTED),
        (["-n2", "--dist", "each"], pytest.ExitCode.USAGE_ERROR),
    ],
    ids=["--co", "--setup-plan", "skip and skipif", "a broken file beside it", "--dist each"],
)
def test_what_runs_no_sample_asks_nothing(
    project: EchoProject,
    model_server: ModelServer,
    model: list[str],
    arguments: list[str],
    status: int,
) -> None:
    (project.path / "other_skipped.py").write_text(SKIPPED)
    (project.path / "other_broken.py").write_text("def test_broken(:\n")
    assert project.run(*model, *arguments)[0] == status
    assert asked(model_server) == []


def test_k_and_junitxml(project: EchoProject, model_server: ModelServer, model: list[str]) -> None:
    project.run(*model, "-k", "0002 or 0003", "--junitxml", "junit.xml", "--import-mode=importlib")
    assert asked(model_server) == [2, 3]
    suite = ET.parse(project.path / "junit.xml").getroot()[0]  # noqa: S314 - ours
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "1", "0")


def test_what_failed_last_time_is_run_alone_or_first_or_step_by_step(
    project: EchoProject, model_server: ModelServer, model: list[str]
) -> None:
    model += ["--llmeval-concurrency", "1"]
    project.run(*model)
    assert asked(model_server) == list(range(SAMPLES))
    project.run(*model, "--lf")
    assert asked(model_server) == sorted(WRONG)
    project.run(*model, "--ff")
    assert asked(model_server) == list(range(SAMPLES))
    assert [row["sample"] for row in project.rows()][:2] == ["2", "5"]
    project.run(*model, "--sw")
    # One more is begun, perhaps, while the failed one is scored.
    assert asked(model_server) in ([0, 1, 2], [0, 1, 2, 3])
    project.run(*model, "--sw", "--sw-skip")
    assert asked(model_server) in ([2, 3, 4, 5], [2, 3, 4, 5, 6])


@pytest.mark.parametrize(
    ("arguments", "most"),
    [(["-x"], 4), (["--maxfail=2"], 7), (["-n2", "-x"], 6)],
    ids=["-x", "--maxfail", "-n2 -x"],
)
def test_what_lies_behind_the_last_failure_allowed_is_not_asked(
    project: EchoProject,
    model_server: ModelServer,
    model: list[str],
    arguments: list[str],
    most: int,
) -> None:
    project.run(*model, "--llmeval-concurrency", "1", *arguments)
    requests = asked(model_server)
    assert len(requests) == len(set(requests)) <= most
    outcomes = project.outcomes()
    assert outcomes.total() == SAMPLES
    assert outcomes["not run"] >= SAMPLES - most
    assert outcomes["error"] == 0


DEADLY = """
import os, time, pytest
pytestmark = pytest.mark.llmeval("task.yaml")

def test_echo(sample, completion):
    if sample.id == "4":
        {end}
    assert completion.text == sample.target
"""


@pytest.mark.parametrize(
    ("arguments", "end"),
    [
        (["--dist", "load", "--timeout=1", "--timeout-method=thread"], "time.sleep(60)"),
        (["--dist", "worksteal"], "os._exit(1)"),
        (["--dist", "loadscope"], "os.kill(os.getpid(), 9)"),
    ],
    ids=["a time-out by thread", "os._exit", "kill -9"],
)
def test_a_worker_that_dies_is_replaced_and_nothing_asked_again(
    project: EchoProject,
    model_server: ModelServer,
    model: list[str],
    arguments: list[str],
    end: str,
) -> None:
    (project.path / "test_echo.py").write_text(DEADLY.format(end=end))
    status, output = project.run(*model, "-n2", *arguments)
    assert status == pytest.ExitCode.TESTS_FAILED
    assert "replacing crashed worker" in output
    assert asked(model_server) == list(range(SAMPLES))
    assert project.outcomes() == {"correct": SAMPLES - 3, "incorrect": 2, "error": 1}


@pytest.mark.parametrize(
    ("folder", "arguments"),
    [
        (".", ["-n2", "--dist", "loadfile", "--import-mode=importlib"]),
        (".", ["-n4", "--maxprocesses=2", "--dist", "loadgroup"]),
        ("elsewhere", ["-n2", "--rootdir=..", "-c", "../pytest.ini", ".."]),
    ],
    ids=["loadfile and importlib", "loadgroup and maxprocesses", "another working folder"],
)
def test_however_tests_are_shared_out_each_sample_is_asked_once(
    project: EchoProject,
    model_server: ModelServer,
    model: list[str],
    folder: str,
    arguments: list[str],
) -> None:
    (project.path / "elsewhere").mkdir()
    assert project.run(*model, *arguments, folder=folder)[0] == pytest.ExitCode.TESTS_FAILED
    assert asked(model_server) == list(range(SAMPLES))
    assert project.outcomes() == {"correct": SAMPLES - 2, "incorrect": 2}


def test_a_time_out_by_signal_ends_the_body_and_no_more(
    project: EchoProject, model_server: ModelServer, model: list[str]
) -> None:
    (project.path / "test_echo.py").write_text(DEADLY.format(end="time.sleep(60)"))
    # Replies take longer than the time-out, which is for the body.
    model_server.program(latency=1.2)
    project.run(*model, "--timeout=1", "--timeout-method=signal")
    assert asked(model_server) == list(range(SAMPLES))
    assert project.outcomes() == {"correct": SAMPLES - 3, "incorrect": 2, "error": 1}


def test_a_time_out_by_thread_ends_a_serial_run_which_can_be_resumed(
    project: EchoProject, model_server: ModelServer, model: list[str]
) -> None:
    (project.path / "test_echo.py").write_text(DEADLY.format(end="time.sleep(60)"))
    # pytest-timeout ends the process here, which is the engine's.
    project.run(*model, "--timeout=1", "--timeout-method=thread")
    before = asked(model_server)
    assert project.outcomes() == {"correct": 3, "incorrect": 1}
    project.run(*model, "--timeout=1", "--timeout-method=signal", "--llmeval-resume")
    assert sorted(before + asked(model_server)) == list(range(SAMPLES))
    assert project.outcomes() == {"correct": SAMPLES - 3, "incorrect": 2, "error": 1}


@pytest.mark.parametrize("mode", ["-n0", "-n2"])
def test_reruns_replace_the_row_and_ask_nothing_again(
    project: EchoProject, model_server: ModelServer, model: list[str], mode: str
) -> None:
    status, output = project.run(*model, mode, "--reruns", "2", "--junitxml", "junit.xml")
    assert "2 failed, 6 passed, 4 rerun" in output
    assert asked(model_server) == list(range(SAMPLES))
    last = {row["sample"]: row for row in project.rows()}
    assert {sample: row["reports"] for sample, row in last.items()} == {
        str(n): 3 if n in WRONG else 1 for n in range(SAMPLES)
    }
    assert project.summary()["entries"][0]["tally"]["counts"]["incorrect"] == 2
    assert status == pytest.ExitCode.TESTS_FAILED
    junit = ET.parse(project.path / "junit.xml").getroot()  # noqa: S314 - pytest wrote it
    assert junit[0].get("failures") == "2"


def test_pdb_stops_in_the_body_and_the_run_goes_on_behind_it(
    project: EchoProject, model_server: ModelServer, model: list[str]
) -> None:
    _, output = project.run(*model, "--pdb", typed="p 'seen', completion.text\nc\nc\n")
    assert "('seen', 'echo: say 2')" in output
    assert asked(model_server) == list(range(SAMPLES))
    assert project.outcomes() == {"correct": SAMPLES - 2, "incorrect": 2}


def test_an_error_elsewhere_leaves_the_samples_alone_when_collection_goes_on(
    project: EchoProject, model_server: ModelServer, model: list[str]
) -> None:
    (project.path / "test_broken.py").write_text("def test_broken(:\n")
    # Like xdist, which always goes on.
    status, _ = project.run(*model, "--continue-on-collection-errors")
    assert status == pytest.ExitCode.TESTS_FAILED
    assert asked(model_server) == list(range(SAMPLES))

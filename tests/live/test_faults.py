"""Servers that fail and runs that are ended: replies are kept and requests accounted for."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections import Counter
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest
from live.echo_project import EchoProject, at
from servers.fixture import ModelServer, serving

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("quick_sessions")

PYTHON = sys.executable
"""Python itself, for runs that get a signal, and are looked at as processes."""

FAULTS = {
    "429": {"kind": "429", "retry_after": "50ms"},
    "500": {"kind": "500"},
    "reset": {"kind": "reset"},
    "stall": {"kind": "stall"},
    "truncated": {"kind": "truncated"},
    "half": {"kind": "half"},
    "garbage": {"kind": "garbage"},
}
CAUSES = {"stall": "timeout", "half": "truncated", "garbage": "truncated"}
"""How the engine calls the faults that it has another name for."""

IN_FLIGHT = 4


def is_asked(server: ModelServer, requests: int, by: subprocess.Popen[str]) -> None:
    """Wait until the server has so many requests."""
    while server.report()["requests"] < requests:
        assert by.poll() is None, by.communicate()[0]


def test_a_server_of_which_a_third_of_the_requests_fail_costs_no_sample(
    tmp_path: Path, model_server: ModelServer
) -> None:
    project = EchoProject.make(tmp_path, samples=200)
    # The draw is by seed, prompt and attempt; under this seed no prompt stalls twice.
    model_server.program(share=0.3, kinds=list(FAULTS.values()), seed=15, latency=0.02)
    status, output = project.run(*at(model_server, limits="timeout=3"), "-n2", "-q")
    assert status == 0, output
    assert project.outcomes() == {"correct": 200}
    report = model_server.report()
    seen: Counter[str] = Counter(report["outcomes"])
    assert seen.pop("ok") == 200
    assert seen.keys() == FAULTS.keys()
    expected: Counter[str] = Counter()
    for kind, count in seen.items():
        expected[CAUSES.get(kind, kind)] += count
    engine = project.summary()["engine"]
    assert engine["retries"] == expected
    assert (engine["requests"], engine["replies"]) == (report["requests"], 200)
    assert (engine["errors"], engine["abandoned"]) == ({}, 0)


def test_a_server_that_dies_half_way_stops_the_run_with_one_message_and_a_resumed_run_goes_on(
    tmp_path: Path,
) -> None:
    project = EchoProject.make(tmp_path, samples=40)
    with ExitStack() as running:
        server = running.enter_context(serving())
        server.program(latency=0.1)
        few = ["--llmeval-concurrency", str(IN_FLIGHT)]
        arguments = at(server, *few, limits="patience=2")
        with project.start(*arguments) as process:
            is_asked(server, 12, process)
            running.close()
            output = project.ended(process)
        assert process.returncode == pytest.ExitCode.INTERRUPTED, output
        assert output.count("ERROR at setup of") == 1, output
        outcomes = project.outcomes()
        assert outcomes["error"] == 1
        assert outcomes["correct"] >= 8
        assert outcomes["not run"] == 40 - 1 - outcomes["correct"]
        stored = project.stored()
        assert stored >= outcomes["correct"]
        server = running.enter_context(serving(server.port))
        status, output = project.run(*arguments, "--llmeval-resume")
        assert status == 0, output
        assert server.report()["requests"] == 40 - stored
        assert project.outcomes() == {"correct": 40}


def test_a_server_that_comes_back_costs_no_sample(tmp_path: Path) -> None:
    project = EchoProject.make(tmp_path, samples=40)
    with ExitStack() as running:
        server = running.enter_context(serving())
        server.program(latency=0.1)
        with project.start(*at(server, "--llmeval-concurrency", str(IN_FLIGHT)), "-n2") as process:
            is_asked(server, 12, process)
            running.close()
            server = running.enter_context(serving(server.port))
            output = project.ended(process)
        assert process.returncode == 0, output
        assert project.outcomes() == {"correct": 40}
        engine = project.summary()["engine"]
        assert engine["requests"] == engine["replies"] + sum(engine["retries"].values())


def test_while_one_of_two_models_is_lost_the_other_goes_on_and_the_reason_is_told_once(
    tmp_path: Path, model_server: ModelServer
) -> None:
    project = EchoProject.make(tmp_path, samples=30)
    model_server.program(lost={"bad": {"kind": "401"}})
    bad, good = (f"openai/{name},base_url={model_server.url}" for name in ("bad", "good"))
    status, output = project.run("--llmeval-model", bad, "--llmeval-model", good, "-rs")
    assert status == pytest.ExitCode.TESTS_FAILED, output
    rows = project.rows()
    assert Counter(row["outcome"] for row in rows if row["model"] == good) == {"correct": 30}
    assert Counter(row["outcome"] for row in rows if row["model"] == bad) == {
        "error": 1,
        "not run": 29,
    }
    assert output.count("ERROR at setup of") == 1, output
    # With its error, in the line of the error, and in the one line of those that did not run.
    assert output.count("the key is refused") <= 3
    assert "SKIPPED [29]" in output
    assert "its model is lost: openai/bad" in output


BLIND = {
    "500": "image input is not supported - hint: you may need to provide the mmproj",
    "400": "Invalid content type. image_url is only supported by certain models.",
}


@pytest.mark.parametrize("status", BLIND)
@pytest.mark.parametrize("mode", ["-n0", "-n2"])
def test_a_model_that_reads_no_pictures_loses_its_samples_with_pictures_and_no_others(
    tmp_path: Path, model_server: ModelServer, status: str, mode: str
) -> None:
    project = EchoProject.make(tmp_path, samples=40, pictured=range(5, 25))
    model_server.program(blind={"kind": status, "message": BLIND[status]})
    ended, output = project.run(*at(model_server, "--llmeval-concurrency", "4"), mode, "-rs")
    assert ended == pytest.ExitCode.TESTS_FAILED, output
    assert project.outcomes() == {"correct": 20, "error": 1, "not run": 19}
    assert output.count("ERROR at setup of") == 1, output
    assert output.count("SKIPPED [19]") == 1
    assert "its pictures are not sent: openai/x" in output
    assert model_server.report()["outcomes"]["blind"] <= 4


@pytest.mark.parametrize("mode", ["-n0", "-n2"])
def test_requests_that_are_always_refused_cost_their_own_samples(
    tmp_path: Path, model_server: ModelServer, mode: str
) -> None:
    project = EchoProject.make(tmp_path, samples=40)
    too_large = {"kind": "429", "message": "Request too large for x on tokens per min (TPM)"}
    kinds = [too_large, {"kind": "413"}, {"kind": "429"}, {"kind": "503"}, {"kind": "served"}]
    model_server.program(poison={f"say {n}": kinds[n % 5] for n in range(30)})
    # The time of a sample bounds the test; what a request may take by itself is minutes.
    options = at(model_server, "--llmeval-sample-timeout", "3", limits="patience=1")
    status, output = project.run(*options, mode)
    assert status == pytest.ExitCode.TESTS_FAILED, output
    scored = {row["sample"] for row in project.rows() if row["outcome"] == "correct"}
    assert scored == {str(n) for n in range(30, 40)}


ENDINGS = {
    "Ctrl-C": (signal.SIGINT, pytest.ExitCode.INTERRUPTED),
    "SIGTERM": (signal.SIGTERM, pytest.ExitCode.INTERRUPTED),
    "kill -9": (signal.SIGKILL, -signal.SIGKILL),
}


@pytest.mark.parametrize(
    ("ending", "mode"),
    [
        ("Ctrl-C", "-n0"),
        ("Ctrl-C", "-n2"),
        ("SIGTERM", "-n0"),
        ("SIGTERM", "-n2"),
        ("kill -9", "-n2"),
    ],
)
def test_however_a_run_is_ended_nothing_stays_behind_and_a_resumed_one_asks_only_what_was_in_flight(
    tmp_path: Path, model_server: ModelServer, ending: str, mode: str
) -> None:
    how, status = ENDINGS[ending]
    project = EchoProject.make(tmp_path, samples=24)
    # Some never answer, the others at any moment.
    stalls = {f"say {n}": [{"kind": "stall"}] for n in range(15, 17)}
    model_server.program(latency=[0.0, 0.2], script=stalls)
    arguments = at(model_server, "--llmeval-concurrency", str(IN_FLIGHT))
    with project.start(*arguments, mode, python=PYTHON, start_new_session=True) as process:
        is_asked(model_server, 17, process)
        # A terminal sends Ctrl-C to all processes of its foreground.
        (os.killpg if how is signal.SIGINT else os.kill)(process.pid, how)
        output = project.ended(process)
        wait_for_the_end_of_all(process.pid)
    assert process.returncode == status, output
    outcomes = project.outcomes()
    assert set(outcomes) <= {"correct", "not run"}
    assert how is signal.SIGKILL or outcomes.total() == 24
    stored, asked = project.stored(), model_server.report()["requests"]
    assert asked - IN_FLIGHT <= stored
    assert outcomes["correct"] <= stored
    model_server.program()
    status, output = project.run(*arguments, mode, "--llmeval-resume")
    assert status == 0, output
    assert model_server.report()["requests"] == 24 - stored
    assert project.outcomes() == {"correct": 24}
    assert project.summary()["entries"][0]["tally"]["counts"]["correct"] == 24


def wait_for_the_end_of_all(group: int) -> None:
    """Wait until no process of a group is left; children of a killed parent take a moment."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
    pytest.fail("children outlive the run")


def test_two_sessions_cannot_write_into_one_run(tmp_path: Path, model_server: ModelServer) -> None:
    project = EchoProject.make(tmp_path, samples=4)
    model_server.program(script={"say 2": [{"kind": "stall"}]})
    with project.start(*at(model_server), python=PYTHON) as process:
        is_asked(model_server, 4, process)
        status, output = project.run(*at(model_server), "--llmeval-resume")
        assert status == pytest.ExitCode.USAGE_ERROR
        assert "--llmeval-resume latest: " in output
        assert "another session is writing into this run; wait for its end, or stop it" in output
        assert model_server.report()["requests"] == 4
        process.send_signal(signal.SIGTERM)
        project.ended(process)
    model_server.program()
    assert project.run(*at(model_server), "--llmeval-resume")[0] == 0


@pytest.mark.parametrize("mode", ["-n0", "-n2"])
def test_replies_under_way_when_the_budget_is_spent_are_kept(
    tmp_path: Path, model_server: ModelServer, mode: str
) -> None:
    project = EchoProject.make(tmp_path, samples=12)
    model_server.program(latency=[0.1, 0.8])
    # Each reply uses twice what is expected of it, so that some are under way when the limit is
    # reached.
    limit = ["--llmeval-budget", "60tok", "--llmeval-set", "echo.generate.max_tokens=5"]
    status, output = project.run(*at(model_server, *limit, "--llmeval-concurrency", "8"), mode)
    assert status == pytest.ExitCode.INTERRUPTED
    assert "limit of 60 tokens reached" in output
    outcomes = project.outcomes()
    assert set(outcomes) <= {"correct", "not run"}
    assert outcomes.total() == 12
    assert model_server.report()["requests"] == project.stored() > outcomes["correct"]

"""Runs of pytest against a local model server: how much is asked, and how runs end."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from live.echo_project import EchoProject, at

if TYPE_CHECKING:
    from servers.fixture import ModelServer

pytestmark = pytest.mark.usefixtures("quick_sessions")

SAMPLES = 40
MODES = pytest.mark.parametrize("mode", ["-n0", "-n2"])


@pytest.fixture
def project(tmp_path: Path) -> EchoProject:
    return EchoProject.make(tmp_path, samples=SAMPLES)


@MODES
def test_every_sample_is_asked_exactly_once(
    project: EchoProject, model_server: ModelServer, mode: str
) -> None:
    status, output = project.run(*at(model_server), mode)
    assert status == 0, output
    report = model_server.report()
    assert report["requests"] == SAMPLES
    assert report["attempts"] == {f"say {n}": 1 for n in range(SAMPLES)}
    assert project.outcomes() == {"correct": SAMPLES}


@MODES
def test_requests_in_flight_reach_the_concurrency_and_never_exceed_it(
    project: EchoProject, model_server: ModelServer, mode: str
) -> None:
    model_server.program(latency=0.2)
    status, output = project.run(*at(model_server, "--llmeval-concurrency", "8"), mode)
    assert status == 0, output
    assert model_server.report()["peak"] == 8


@MODES
def test_a_refused_key_stops_the_run_with_one_message(
    project: EchoProject, model_server: ModelServer, mode: str
) -> None:
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
    project: EchoProject, model_server: ModelServer, mode: str
) -> None:
    model_server.program(
        script={f"say {n}": [{"kind": "402"}] for n in range(20, SAMPLES)}, latency=0.05
    )
    status, output = project.run(*at(model_server, "--llmeval-concurrency", "4"), mode)
    assert status == pytest.ExitCode.INTERRUPTED, output
    outcomes = project.outcomes()
    assert outcomes["error"] == 1
    assert outcomes["incorrect"] == 0
    assert outcomes["correct"] >= 10
    assert outcomes.total() == SAMPLES


@MODES
def test_a_missing_key_is_a_usage_error_before_any_test(project: EchoProject, mode: str) -> None:
    status, output = project.run("--llmeval-model", "openai/x", mode)
    assert status == pytest.ExitCode.USAGE_ERROR
    assert output.count("openai/x: no key; set OPENAI_API_KEY") == 1
    assert not (project.path / "reports").exists()


@MODES
def test_an_endpoint_where_nobody_answers_is_told_once(project: EchoProject, mode: str) -> None:
    # The discard port: nothing serves there.
    arguments = ["--llmeval-model", "openai/x,base_url=http://127.0.0.1:9/v1"]
    status, output = project.run(*arguments, mode)
    assert status == pytest.ExitCode.INTERRUPTED
    assert output.count("ERROR at setup of") == 1
    assert (
        "nothing answers at http://127.0.0.1:9/v1; is the server running, the URL right?" in output
    )
    assert project.outcomes() == {"error": 1, "not run": SAMPLES - 1}


@pytest.mark.parametrize("mode", ["-n0", "-n2"])
def test_x_leaves_what_hangs_behind(
    project: EchoProject, model_server: ModelServer, mode: str
) -> None:
    hanging = {f"say {n}": [{"kind": "stall"}] * 9 for n in range(1, SAMPLES)}
    model_server.program(script=hanging, reply={"content": "wrong"})
    status, output = project.run(*at(model_server, limits="timeout=5"), mode, "-x")
    assert status in {pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED}, output
    assert project.outcomes() == {"incorrect": 1, "not run": SAMPLES - 1}

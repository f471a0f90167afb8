"""Requests that go into batches: the same rows at half the price, and nothing is paid twice."""

from __future__ import annotations

import fnmatch
import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from plugin.conftest import Project
    from servers.fixture import ModelServer

MODES = pytest.mark.parametrize("mode", [["-p", "no:xdist"], ["-n2"]], ids=["no xdist", "-n2"])
COSTS_OF_MESSAGES = tuple((number + 5) / 2000 for number in range(10, 60))
"""Anthropic's protocol has more characters, which the server counts."""

DIALECTS = pytest.mark.parametrize("dialect", ["openai", "azure", "anthropic"])


@pytest.fixture(params=["openai"])
def dialect(request: pytest.FixtureRequest) -> str:
    """Return the dialect; tests name others by `DIALECTS`."""
    return str(request.param)


@pytest.fixture
def batched(
    dialect: str, batch_server: ModelServer, monkeypatch: pytest.MonkeyPatch, project: Project
) -> list[str]:
    """Return the options of runs in batches, which are asked about often."""
    monkeypatch.setenv("OPENAI_API_KEY", "openai-key")
    monkeypatch.setenv("OPENAI_BASE_URL", batch_server.url)
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "azure-key")
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", batch_server.root)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "anthropic-key")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", batch_server.root)
    project.write("prices.yaml", f"{dialect}/m: {{input: 1000, output: 1000}}\n")
    return [
        *("--llmeval-model", f"{dialect}/m"),
        *("--llmeval-prices", "prices.yaml"),
        "--llmeval-batch=poll=0.2",
    ]


@DIALECTS
@MODES
def test_all_samples_go_in_one_batch_and_are_paid_once(
    project: Project, batch_server: ModelServer, batched: list[str], mode: list[str]
) -> None:
    result = project.run(*batched, *mode)
    result.assert_outcomes(passed=12)
    report = batch_server.report()
    assert report["sizes"] == [12]
    assert set(report["paid"].values()) == {1}
    assert report["online"] == {}
    assert {row["usage"]["batched"] for row in project.rows()} == {1}
    # Ten tokens in and five out at a tenth of a cent each, and half of that in a batch.
    assert {row["usage"]["cost"] for row in project.rows()} <= {0.0075, *COSTS_OF_MESSAGES}
    (entry,) = project.summary()["entries"]
    assert entry["tally"]["usage"]["batched"] == 12
    result.stdout.fnmatch_lines(["engine: 12 requests (12 answered in batches)*"])


@MODES
def test_a_run_that_leaves_comes_back_for_the_same_batch(
    project: Project, batch_server: ModelServer, batched: list[str], mode: list[str]
) -> None:
    batch_server.program(delay=3)
    left = [*batched[:-1], "--llmeval-batch=wait=0,poll=0.2", *mode]
    result = project.run(*left)
    assert result.ret != pytest.ExitCode.OK
    name = (project.path / "reports" / "latest").resolve().name
    result.stdout.fnmatch_lines([f"*1 batch goes on at the provider; *--llmeval-resume={name} *"])
    assert set(project.outcomes().values()) == {"not run"}
    project.run(*batched, *mode, "--llmeval-resume").assert_outcomes(passed=12)
    report = batch_server.report()
    assert report["sizes"] == [12]
    assert set(report["paid"].values()) == {1}


def test_a_folder_of_replies_brings_a_run_back_to_its_batch_without_a_report(
    project: Project, batch_server: ModelServer, batched: list[str]
) -> None:
    batch_server.program(delay=3)
    places = ["--llmeval-keep", "kept", "--llmeval-reuse", "kept", "-o", "llmeval_report="]
    result = project.run(*batched[:-1], "--llmeval-batch=wait=0,poll=0.2", *places)
    result.stdout.fnmatch_lines(["*--llmeval-keep kept --llmeval-reuse kept goes on*"])
    project.run(*batched, *places).assert_outcomes(passed=12)
    report = batch_server.report()
    assert report["sizes"] == [12]
    assert not (project.path / "reports").exists()
    # What was read is not kept twice, and nobody waits for the batch any more.
    project.run(*batched, *places).assert_outcomes(passed=12)
    assert batch_server.report() == {**report, "calls": batch_server.report()["calls"]}


def test_without_any_place_batches_work_and_the_last_line_says_that_nothing_remembers_them(
    project: Project, batch_server: ModelServer, batched: list[str]
) -> None:
    nowhere = ["-o", "llmeval_report="]
    project.run(*batched, *nowhere).assert_outcomes(passed=12)
    assert not (project.path / "reports").exists()
    batch_server.program(delay=60)
    result = project.run(*batched[:-1], "--llmeval-batch=wait=0,poll=0.2", *nowhere)
    result.stdout.fnmatch_lines(["*1 batch goes on at the provider; nothing remembers them*"])


def test_judges_are_asked_in_a_batch_of_their_own_and_bodies_alone(
    project: Project, batch_server: ModelServer, batched: list[str]
) -> None:
    task = (project.path / "task.yaml").read_text()
    project.write("task.yaml", task.replace("scorer: {sldp: {tolerance: 0.01}}", "scorer: judge"))
    project.write(
        "test_sums.py",
        """
import pytest
from pytest_llmeval import assert_correct

pytestmark = pytest.mark.llmeval("task.yaml")

def test_sums(sample, completion, llm):
    assert llm.generate("from the body").text
    assert_correct(sample, completion)
""",
    )
    verdict = json.dumps({"reason": "same", "answer_correct": 1})
    batch_server.program(answers={"says": {"j": verdict, "m": "some text"}})
    project.write(
        "prices.yaml", "openai/m: {input: 1, output: 1}\nopenai/j: {input: 1, output: 1}\n"
    )
    result = project.run(*batched, "--llmeval-judge", "openai/j", "--llmeval-groups")
    result.stdout.fnmatch_lines(["*tokens in*by batch*", "*24 of 24*"])
    report = batch_server.report()
    assert report["sizes"] == [12, 12]
    assert report["online"] == {"from the body": 1}
    assert {row["usage"]["batched"] for row in project.rows()} == {2}


def test_a_test_may_wait_longer_than_its_time_outs(
    project: Project, batch_server: ModelServer, batched: list[str]
) -> None:
    batch_server.program(delay=6)
    limits = ["--llmeval-sample-timeout", "2", "-p", "timeout", "--timeout", "3"]
    project.run(*batched, *limits).assert_outcomes(passed=12)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (
            ["--llmeval-model", "python/./model.py:reply", "--llmeval-batch=on"],
            "*--llmeval-batch: python/./model.py:reply has no batch API*=off*",
        ),
        (
            ["--llmeval-model", "openai/m", "--llmeval-judge", "vllm/j", "--llmeval-batch=on"],
            "*--llmeval-batch: vllm/j has no batch API*",
        ),
        (
            ["--llmeval-model", "openai/m", "--llmeval-batch", "test_sums.py"],
            "*--llmeval-batch 'test_sums.py': 'test_sums.py' is not taken; *before a path write*",
        ),
        (
            ["--llmeval-model", "openai/m", "--llmeval-batch=wait=soon"],
            "*--llmeval-batch 'wait=soon': 'soon' is not a span of time; expected*",
        ),
    ],
    ids=["no batch API", "a judge without", "a path", "a span"],
)
def test_what_cannot_be_is_told_once_before_anything_is_paid(
    project: Project, batched: list[str], options: list[str], told: str
) -> None:
    del batched
    task = (project.path / "task.yaml").read_text()
    project.write("task.yaml", task.replace("scorer: {sldp: {tolerance: 0.01}}", "scorer: judge"))
    result = project.run(*options)
    assert result.ret != pytest.ExitCode.OK
    output = [*result.outlines, *result.errlines]
    assert len(fnmatch.filter(output, told)) == 1
    assert project.calls() == []


def test_the_estimate_says_both_prices(project: Project, batched: list[str]) -> None:
    result = project.run(
        *batched, "--llmeval-estimate", "--llmeval-set", "sums.generate.max_tokens=100"
    )
    line = "*12 requests, about 36 input tokens, at most about $1.24 with 1,200 output tokens"
    result.stdout.fnmatch_lines([f"{line} ($0.62 by --llmeval-batch)"])
    project.write("prices.yaml", "openai/m: {input: 1000, output: 1000, batch: 0.25}\n")
    result = project.run(
        *batched, "--llmeval-estimate", "--llmeval-set", "sums.generate.max_tokens=100"
    )
    result.stdout.fnmatch_lines([f"{line} ($0.31 by --llmeval-batch)"])

"""A run ends cleanly when its budget is spent, and can be gone on with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from plugin.conftest import Project

MODES = pytest.mark.parametrize("mode", [["-n0"], ["-n2"]], ids=["-n0", "-n2"])

# Every reply uses a million tokens.
MODEL = """
from pytest_llmeval.records import Usage

def wordy(request):
    usage = Usage(input_tokens=0, output_tokens=1_000_000, requests=1)
    return Reply(text=reply(request), usage=usage)
"""
WORDY = [
    "--llmeval-model",
    "python/./model.py:wordy",
    "--llmeval-concurrency",
    "1",
    "-k",
    "not 0007",
]
LIMITS = pytest.mark.parametrize(
    ("limit", "told"),
    [
        (
            ["--llmeval-budget", "5.5usd", "--llmeval-prices", "prices.yaml"],
            "*budget of 5.5 USD reached: 5.0000 spent*",
        ),
        (
            ["--llmeval-budget", "5.5Mtok"],
            "*limit of 5500000 tokens reached: 5000000 used*",
        ),
    ],
    ids=["dollars", "tokens"],
)


@pytest.fixture
def wordy(project: Project) -> Project:
    """Return the project with a model that costs a dollar for each reply."""
    project.write("model.py", (project.path / "model.py").read_text() + MODEL)
    project.write("prices.yaml", "python/./model.py:wordy: {input: 1, output: 1}\n")
    return project


@MODES
@LIMITS
def test_a_spent_budget_ends_the_run_with_one_line_and_a_resumed_run_goes_on(
    wordy: Project, mode: list[str], limit: list[str], told: str
) -> None:
    result = wordy.run(*WORDY, *mode, *limit)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines([told])
    asked = wordy.calls()
    assert len(asked) == 5
    outcomes = wordy.outcomes()
    assert len(outcomes) == 11
    finished = {int(sample) for sample, outcome in outcomes.items() if outcome != "not run"}
    assert finished <= set(asked)
    assert finished
    assert "error" not in outcomes.values()
    # What the run has spent already counts: how much a reply needs, the new session does not know
    # before the first.
    wordy.run(*WORDY, *mode, *limit, "--llmeval-resume").stdout.fnmatch_lines(
        [told.replace(": 5", ": 6")]
    )
    asked += wordy.calls()
    assert len(asked) == 6
    wordy.run(*WORDY, *mode, "--llmeval-resume")
    assert list(wordy.outcomes().values()).count("correct") == 8
    assert sorted([*asked, *wordy.calls()]) == [n for n in range(12) if n != 7]


@MODES
def test_a_model_without_a_price_is_refused_before_any_call(
    wordy: Project, mode: list[str]
) -> None:
    result = wordy.run("--llmeval-model", "openai/gpt-x", *mode, "--llmeval-budget", "5usd")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*no price is known for openai/gpt-x; add it to the file of --llmeval-prices*"]
    )
    assert not (wordy.path / "reports").exists()


def test_a_broken_price_file_is_a_usage_error(wordy: Project) -> None:
    wordy.write("prices.yaml", "python/./model.py:wordy: {input: free}\n")
    result = wordy.run(*WORDY, "--llmeval-prices", "prices.yaml")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*prices.yaml: python/./model.py:wordy has *"])
    assert wordy.calls() == []


def test_recorded_replies_spend_nothing(wordy: Project) -> None:
    wordy.run(*WORDY, "--llmeval-keep", "replies.jsonl")
    replay = ["--llmeval-model", "replay/replies.jsonl", "-k", "not 0007"]
    result = wordy.run(*replay, "--llmeval-budget", "1usd,1tok")
    result.assert_outcomes(passed=8, failed=3, deselected=1)


def test_prices_alone_put_the_cost_into_the_rows(wordy: Project) -> None:
    wordy.run(*WORDY, "--llmeval-prices", "prices.yaml", "--llmeval-limit", "2")
    assert [row["usage"]["cost"] for row in wordy.rows()] == [1.0, 1.0]

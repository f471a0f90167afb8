"""What a run would cost is told without a call."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from plugin.conftest import Project

MODES = pytest.mark.parametrize(
    "mode", [["-p", "no:xdist"], ["-n0"], ["-n2"]], ids=["no xdist", "-n0", "-n2"]
)
ESTIMATE = ["--llmeval-model", "python/./model.py:reply", "--llmeval-estimate"]
PRICED = [*ESTIMATE, "--llmeval-prices", "prices.yaml"]


@pytest.fixture(autouse=True)
def prices(project: Project) -> None:
    """Give the model a price: 1,000 dollars per million tokens each way."""
    project.write("prices.yaml", "python/./model.py:reply: {input: 1000, output: 1000}\n")


@MODES
def test_requests_and_input_tokens_of_the_selected_tests_are_told_and_nothing_runs(
    project: Project, mode: list[str]
) -> None:
    result = project.run(*ESTIMATE, *mode, "--llmeval-epochs", "2", "-k", "even")
    assert result.ret == pytest.ExitCode.OK
    # Twelve requests of "Q: what is N+1", 14 or 15 characters: 3 tokens each.
    result.stdout.fnmatch_lines(
        ["estimate: sums · python/./model.py:reply: 12 requests, about 36 input tokens"]
    )
    result.assert_outcomes(deselected=12)
    assert project.calls() == []
    assert not (project.path / "reports").exists()


def test_with_prices_dollars_are_told_at_most_where_the_task_limits_replies(
    project: Project,
) -> None:
    result = project.run(*PRICED, "--llmeval-limit", "10")
    result.stdout.fnmatch_lines(
        ["*10 requests, about 30 input tokens, $0.03 and the output, which nothing limits"]
    )
    result = project.run(
        *PRICED, "--llmeval-limit", "10", "--llmeval-set", "sums.generate.max_tokens=100"
    )
    result.stdout.fnmatch_lines(
        ["*10 requests, about 30 input tokens, at most about $1.03 with 1,000 output tokens"]
    )
    assert project.calls() == []


def test_each_model_has_its_line(project: Project) -> None:
    project.write("other.py", "def reply(request):\n    return '1'\n")
    result = project.run(*ESTIMATE, "--llmeval-model", "python/./other.py:reply")
    result.stdout.fnmatch_lines(
        [
            "estimate: sums · python/./model.py:reply: 12 *",
            "estimate: sums · python/./other.py:reply: 12 *",
        ]
    )


def test_the_sums_stand_below_several_models(project: Project) -> None:
    project.write("other.py", "def reply(request):\n    return '1'\n")
    several = [*PRICED, "--llmeval-model", "python/./other.py:reply,max_tokens=50"]
    result = project.run(*several)
    result.stdout.fnmatch_lines(["estimate: all: 24 requests, about 72 input tokens"])
    project.write(
        "prices.yaml",
        (project.path / "prices.yaml").read_text()
        + "python/./other.py:reply: {input: 1000, output: 0}\n",
    )
    result = project.run(*several, "--llmeval-set", "sums.generate.max_tokens=100")
    cost = "at most about $1.27 with 1,800 output tokens"
    result.stdout.fnmatch_lines([f"estimate: all: 24 requests, about 72 input tokens, {cost}"])


def test_recorded_replies_are_said_to_cost_nothing(project: Project) -> None:
    project.write("replies.jsonl", "")
    result = project.run("--llmeval-model", "replay/replies.jsonl", "--llmeval-estimate")
    result.stdout.fnmatch_lines(
        ["estimate: sums · replay/replies.jsonl: recorded replies, nothing is asked"]
    )


def test_a_broken_test_file_still_fails_the_session(project: Project) -> None:
    project.write("test_broken.py", "import nothing_of_this_name\n")
    result = project.run(*ESTIMATE)
    assert result.ret not in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}
    assert project.calls() == []

"""What a test's ending says of its sample: five outcomes, kept apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from plugin.conftest import Project

SCRIPTED = ["--llmeval-model", "python/./model.py:reply"]


SCORER = "scorer: {sldp: {tolerance: 0.01}}\n"

BODIES = """
import pytest
from pytest_llmeval import Score, record_score
from pytest_llmeval.errors import ToolError, ScorerError
pytestmark = pytest.mark.llmeval("task.yaml")

def test_sums(sample, completion):
    match sample.id:
        case "0": assert 1 == 2
        case "1": raise ToolError("the database is gone")
        case "2": raise ValueError("a mistake in the test")
        case "3":
            record_score(Score(name="own", value=None, correct=None, explanation="who knows"))
            raise ScorerError("who knows")
        case "4":
            details = {"seen": [1, None]}
            record_score(Score(name="own", value=0.5, correct=True, details=details))
"""


@pytest.fixture
def bodies(project: Project) -> Project:
    """Return the project with a task that leaves the decision to its test."""
    project.write("task.yaml", (project.path / "task.yaml").read_text().replace(SCORER, ""))
    project.write("test_sums.py", BODIES)
    return project


@pytest.mark.parametrize("mode", [["-n0"], ["-n2"]], ids=["-n0", "-n2"])
def test_errors_of_a_body_show_as_pytest_errors(bodies: Project, mode: list[str]) -> None:
    project = bodies
    result = project.run(*SCRIPTED, *mode, "--llmeval-limit", "5")
    result.assert_outcomes(passed=1, failed=1, errors=3)
    expected = {"0": "incorrect", "1": "error", "2": "error", "3": "unscored", "4": "correct"}
    assert project.outcomes() == expected


def test_accuracy_counts_correct_and_incorrect_alone(bodies: Project) -> None:
    project = bodies
    project.run(*SCRIPTED, "--llmeval-limit", "5")
    tally = project.summary()["entries"][0]["tally"]
    assert tally["counts"] == {
        "correct": 1,
        "incorrect": 1,
        "error": 2,
        "unscored": 1,
        "not_run": 0,
    }
    assert (tally["accuracy"]["value"], tally["accuracy"]["n"]) == (0.5, 2)


@pytest.mark.parametrize(
    "value", ["numpy.float64(1)", "decimal.Decimal(1)", "float('nan')", "{1: 2}", "object()"]
)
@pytest.mark.parametrize("mode", [["-n0"], ["-n2"]], ids=["-n0", "-n2"])
def test_a_value_that_is_no_plain_json_is_a_clear_error_and_loses_nothing(
    project: Project, mode: list[str], value: str
) -> None:
    project.write(
        "test_sums.py",
        f"""
import decimal, numpy, pytest
from pytest_llmeval import Score, record_score
pytestmark = pytest.mark.llmeval("task.yaml")

def test_sums(sample, completion):
    details = {{"x": {value} if sample.id == "1" else 1}}
    record_score(Score(name="own", value=1.0, correct=True, details=details))
""",
    )
    result = project.run(*SCRIPTED, *mode, "--llmeval-limit", "3")
    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines(
        ["*ScorerError: sample '1', score 'own', field 'details'*not plain JSON*"]
    )
    assert project.outcomes() == {"0": "correct", "1": "error", "2": "correct"}


def test_reruns_replace_the_row_and_are_counted(project: Project) -> None:
    project.run(*SCRIPTED, "--reruns", "1", "-k", "0005 or 0001").assert_outcomes(
        passed=1, failed=1
    )
    assert {row["sample"]: row["reports"] for row in project.rows()} == {"1": 1, "5": 2}
    assert project.calls() == [1, 5]


def test_waiting_for_a_model_never_counts_against_pytest_timeout(project: Project) -> None:
    project.write(
        "model.py",
        "import time\n\n"
        "def reply(request):\n    time.sleep(1.2)\n    return request.messages[0].text[-3:]\n",
    )
    result = project.run(*SCRIPTED, "--timeout=1", "--llmeval-limit", "2")
    result.assert_outcomes(failed=2)


def test_the_time_out_mark_holds_for_the_body(project: Project) -> None:
    project.write(
        "test_sums.py",
        """
import time, pytest
from pytest_llmeval import assert_correct
pytestmark = pytest.mark.llmeval("task.yaml")

@pytest.mark.timeout(0.5)
def test_sums(sample, completion):
    time.sleep(5 if sample.id == "1" else 0)
    assert_correct(sample, completion)
""",
    )
    result = project.run(*SCRIPTED, "-k", "0001 or 0002")
    result.assert_outcomes(passed=1, errors=1, deselected=10)
    assert project.outcomes() == {"1": "error", "2": "correct"}

"""Pytest's ways of selecting tests select samples, and the others are not asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from plugin.conftest import Project

SCRIPTED = ["--llmeval-model", "python/./model.py:reply"]


def test_collect_only_lists_readable_ids_and_asks_nothing(project: Project) -> None:
    result = project.run(*SCRIPTED, "--co", "-q")
    assert result.outlines[:12] == [f"test_sums.py::test_sums[{n:04}]" for n in range(12)]
    assert project.calls() == []
    assert not (project.path / "reports").exists()


@pytest.mark.parametrize("mode", [["-n0"], ["-n2"]], ids=["-n0", "-n2"])
def test_k_picks_one_sample(project: Project, mode: list[str]) -> None:
    project.run(*SCRIPTED, *mode, "-k", "0001").assert_outcomes(passed=1)
    assert project.calls() == [1]


def test_k_picks_by_tag(project: Project) -> None:
    result = project.run(*SCRIPTED, "-k", "odd")
    result.assert_outcomes(passed=4, failed=1, errors=1, deselected=6)
    assert project.calls() == [1, 3, 5, 7, 9, 11]


def test_x_stops_and_what_was_not_reached_is_not_run(project: Project) -> None:
    project.run(*SCRIPTED, "-x").assert_outcomes(failed=1)
    outcomes = project.outcomes()
    assert outcomes.pop("0") == "incorrect"
    assert set(outcomes.values()) == {"not run"}


def test_limit_takes_the_first_samples_of_a_task(project: Project) -> None:
    project.run(*SCRIPTED, "--llmeval-limit", "3").assert_outcomes(passed=2, failed=1)
    assert project.calls() == [0, 1, 2]


def test_sample_picks_by_raw_id(project: Project) -> None:
    project.run(*SCRIPTED, "--llmeval-sample", "1", "--llmeval-sample", "11").assert_outcomes(
        passed=2
    )
    assert project.calls() == [1, 11]


def test_a_sample_that_is_not_there_is_a_usage_error(project: Project) -> None:
    result = project.run(*SCRIPTED, "--llmeval-sample", "99")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--llmeval-sample '99'*"])


def test_a_test_skipped_while_it_runs_is_not_run(project: Project) -> None:
    project.write(
        "test_sums.py",
        """
import pytest
pytestmark = pytest.mark.llmeval("task.yaml")

def test_sums(sample, completion):
    if sample.id == "2":
        pytest.skip("not this one")
""",
    )
    project.run(*SCRIPTED)
    assert project.outcomes()["2"] == "not run"


def test_parameters_of_ones_own_multiply_the_samples_and_name_the_rows(project: Project) -> None:
    project.write(
        "test_sums.py",
        """
import pytest
from pytest_llmeval import assert_sldp_equal
pytestmark = pytest.mark.llmeval("task.yaml")

@pytest.mark.parametrize("tolerance", [0.01, 100.0])
def test_sums(sample, completion, tolerance):
    assert_sldp_equal(completion.answer, sample.target, tolerance=tolerance)
""",
    )
    project.run(*SCRIPTED, "--llmeval-limit", "2").assert_outcomes(passed=3, failed=1)
    assert project.calls() == [0, 1]
    tests = {row["test"] for row in project.rows()}
    assert tests == {"test_sums.py::test_sums[0.01]", "test_sums.py::test_sums[100.0]"}


def test_parameters_that_hold_the_samples_id_do_not_split_a_test(project: Project) -> None:
    project.write(
        "test_sums.py",
        """
import pytest
from pytest_llmeval import assert_sldp_equal
pytestmark = pytest.mark.llmeval("task.yaml")

@pytest.fixture(params=["seed0001", "w"])
def seed(request):
    return request.param

def test_sums(seed, sample, completion):
    assert_sldp_equal(completion.answer, sample.target)
""",
    )
    project.run(*SCRIPTED, "--llmeval-limit", "3")
    assert {row["test"] for row in project.rows()} == {
        "test_sums.py::test_sums[seed0001]",
        "test_sums.py::test_sums[w]",
    }

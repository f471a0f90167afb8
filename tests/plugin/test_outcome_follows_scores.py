"""The outcome of a sample follows the scores that decide, whatever the body of the test does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from plugin.conftest import Project

SCRIPTED = ["--llmeval-model", "python/./model.py:reply"]
MODES = pytest.mark.parametrize(
    "mode", [["-n0"], ["-n2"], ["-p", "no:xdist"]], ids=["-n0", "-n2", "no xdist"]
)

# The task declares SLDP, and the model is right about all of these samples.
BODIES = """
import pytest
from pytest_llmeval import Score, assert_correct, record_score
pytestmark = pytest.mark.llmeval("task.yaml")

def score(name, value, correct, decides=True):
    return record_score(Score(name=name, value=value, correct=correct, decides=decides))

def test_sums(sample, completion):
    match sample.id:
        case "1": score("SLDP", 0.0, False)
        case "2": pass
        case "3": score("SLDP", 1.5, True)
        case "4": assert_correct(sample, completion)
        case "6":
            score("aside", 0.0, False, decides=False)
            assert_correct(sample, completion)
        case "8": score("own", 0.0, False)
        case "9": score("own", 1.0, True)
        case "11": score("own", -0.1, False)
"""
RUN = [*SCRIPTED, "-k", "not 0000 and not 0005 and not 0007 and not 0010"]


def decisions(row: dict[str, Any]) -> list[tuple[str, bool | None, bool]]:
    return [(score["name"], score["correct"], score["decides"]) for score in row["scores"]]


@MODES
def test_a_body_without_assertions_ends_as_its_scores_say(
    project: Project, mode: list[str]
) -> None:
    project.write("test_sums.py", BODIES)
    result = project.run(*RUN, *mode)
    result.assert_outcomes(passed=3, failed=2, errors=3, deselected=0 if mode == ["-n2"] else 4)
    assert project.outcomes() == {
        "1": "incorrect",
        "2": "error",
        "3": "error",
        "4": "correct",
        "6": "correct",
        "8": "incorrect",
        "9": "correct",
        "11": "error",
    }
    rows = {row["sample"]: row for row in project.rows()}
    assert "call assert_correct(sample, completion)" in rows["2"]["explanation"]
    assert "'SLDP'" in rows["2"]["explanation"]
    assert "1.5 is not in 0..1, its scale" in rows["3"]["explanation"]
    assert "-0.1 is not in 0..1, its scale" in rows["11"]["explanation"]
    assert (rows["2"]["scores"], rows["3"]["scores"], rows["11"]["scores"]) == ([], [], [])
    assert decisions(rows["6"]) == [("aside", False, False), ("SLDP", True, True)]
    assert decisions(rows["9"]) == [("own", True, True)]


@MODES
def test_a_scorer_that_the_task_does_not_declare_is_named_once(
    project: Project, mode: list[str]
) -> None:
    project.write("test_sums.py", BODIES)
    remark = "task 'sums' declares 'SLDP', but tests of it were decided by 'own': declare *"
    result = project.run(*RUN, *mode)
    result.stdout.fnmatch_lines([remark])
    assert result.stdout.str().count("were decided by") == 1
    result = project.run(*SCRIPTED, *mode, "-k", "0004 or 0006")
    result.stdout.no_fnmatch_line("*were decided by*")


@pytest.mark.parametrize("scorer", ["", "scorer: {eed: {minimum: 50}}\n"], ids=["none", "EED"])
def test_a_named_assertion_decides_where_the_task_declares_none_or_another(
    project: Project, scorer: str
) -> None:
    task = (project.path / "task.yaml").read_text()
    project.write("task.yaml", task.replace("scorer: {sldp: {tolerance: 0.01}}\n", scorer))
    result = project.run(*SCRIPTED, "-k", "0001 or 0005")
    result.assert_outcomes(passed=1, failed=1, deselected=10)
    assert project.outcomes() == {"1": "correct", "5": "incorrect"}
    named = "declares 'EED', but tests of it were decided by 'SLDP'" in result.stdout.str()
    assert named is bool(scorer)


HARSH = """
from pytest_llmeval import Score

class Harsh:
    name, grader, scale = "harsh", "harsh/1", 1.0

    def check(self, target):
        pass

    def score(self, answer, sample, prepared):
        if sample.id == "2":
            raise ValueError("a mistake in the scorer")
        return Score(name="harsh", value=0.0, correct=False, grader="harsh/1")
"""


@MODES
def test_a_score_that_does_not_decide_changes_no_outcome(project: Project, mode: list[str]) -> None:
    project.write("harsh.py", HARSH)
    project.run(*SCRIPTED, *mode)
    outcomes = project.outcomes()
    aside = ["--llmeval-set", "sums.scorer+=./harsh.py:Harsh"]
    result = project.run(*SCRIPTED, *mode, *aside)
    result.assert_outcomes(passed=8, failed=3, errors=1)
    assert project.outcomes() == outcomes
    rows = {row["sample"]: row for row in project.rows()}
    assert decisions(rows["1"]) == [("SLDP", True, True), ("harsh", False, False)]
    assert decisions(rows["2"]) == [("SLDP", True, True), ("harsh", None, False)]
    assert "a mistake in the scorer" in rows["2"]["scores"][1]["explanation"]


MARKED = """
import pytest
from pytest_llmeval import Score, record_score
pytestmark = pytest.mark.llmeval("task.yaml")

class TestSums:
    @pytest.mark.xfail(reason="too hard")
    def test_expected(self, sample, completion):
        record_score(Score(name="SLDP", value=0.0, correct=False))

    @pytest.mark.skip(reason="not today")
    def test_skipped(self, sample, completion):
        record_score(Score(name="SLDP", value=0.0, correct=False))

    def test_left(self, sample, completion):
        pytest.skip("not this one")

    def test_wrong(self, sample, completion):
        record_score(Score(name="SLDP", value=0.0, correct=False))
"""


@MODES
def test_xfail_skip_and_rerun_work_in_classes_as_everywhere(
    project: Project, mode: list[str]
) -> None:
    project.write("test_sums.py", MARKED)
    result = project.run(*SCRIPTED, *mode, "--llmeval-sample", "1", "--reruns", "2")
    assert "1 failed, 2 skipped, 1 xfailed, 2 rerun" in result.stdout.str()
    found = {row["test"].rpartition("::")[2]: row for row in project.rows()}
    assert {name: (row["outcome"], row["reports"]) for name, row in found.items()} == {
        "test_expected": ("incorrect", 1),
        "test_skipped": ("not run", 1),
        "test_left": ("not run", 1),
        "test_wrong": ("incorrect", 3),
    }
    # Each attempt begins without the scores of the one before.
    assert decisions(found["test_wrong"]) == [("SLDP", False, True)]
    assert found["test_wrong"]["test"] == "test_sums.py::TestSums::test_wrong"

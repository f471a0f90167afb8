"""A run whose judge is asked a question of the task's own, by the task and by the tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from plugin.conftest import Project

PROMPT = """You rate answers.

---

{{ input }}

{{ candidate }}

How good is it?
"""

SCORER = """scorer:
  judge:
    prompt: ./judge.md
    scale: [1, 5]
    minimum: 3
    criteria: {truth: Is it true?, style: Is it clear?}
metrics: [accuracy, judge.style]
"""

# By the keys that are demanded: a rubric, a rating, a label or a verdict.
JUDGE = """
import json

def reply(request):
    keys = request.parameters["response_format"]["json_schema"]["schema"]["required"]
    text = request.messages[-1].text
    found = {"reason": "as I see it", "truth": 5 if "what is 1" in text else 1, "style": 4,
             "rating": 4, "label": "rude", "answer_correct": int("Context:" not in text)}
    return json.dumps({key: found[key] for key in keys})
"""

CORRECT = """
import pytest
from pytest_llmeval import assert_correct


@pytest.mark.llmeval("task.yaml")
def test_sums(sample, completion):
    assert_correct(sample, completion)
"""

BY_HAND = """
import pytest
from pytest_llmeval import UsageError, assert_judged


def test_a_rating():
    score = assert_judged("Paris.", prompt="helpfulness", scale=[1, 5], minimum=4, problem="?")
    assert (score.name, score.value, score.scale) == ("judge", 4, 5)


def test_a_rubric_of_ones_own():
    assert_judged("Paris.", prompt="./judge.md", scale=[1, 5], minimum=2, criteria={"style": "?"})


def test_a_verdict_that_fails():
    with pytest.raises(AssertionError, match="as I see it"):
        assert_judged("Paris.", prompt="faithfulness", metadata={"context": "nothing"})


def test_labels():
    scale = {"labels": ["polite", "rude"], "correct": ["polite"]}
    with pytest.raises(AssertionError, match="labelled 'rude', and correct is 'polite'"):
        assert_judged("Go away.", prompt="./judge.md", scale=scale)


def test_an_option_that_is_wrong():
    with pytest.raises(UsageError, match="such as minimum: 5"):
        assert_judged("Paris.", prompt="helpfulness", scale=[1, 5])
    with pytest.raises(UsageError, match="did you mean 'helpfulness'"):
        assert_judged("Paris.", prompt="helpfullness")


def test_the_fixture(judge):
    found = judge(problem="?", candidate="Paris.", prompt="helpfulness", votes=2)
    assert (found.decision.value, found.decision.correct) == (4, False)


def test_the_fixture_on_an_empty_answer(judge):
    found = judge(problem="x", candidate="", target="1")
    empty = [{"candidate": ""}, {"candidate": " "}]
    both = judge.judge_all(empty, problem="?", prompt="helpfulness")
    assert [one.decision.correct for one in (found, *both)] == [False] * 3
    assert [one.decision.value for one in both] == [1, 1]
"""


@pytest.fixture
def project(project: Project) -> Project:
    """Return the project with a prompt and a judge for it."""
    project.write("judge.md", PROMPT)
    project.write("judge.py", JUDGE)
    return project


def test_criteria_are_columns_means_and_rules_of_a_gate(project: Project) -> None:
    task = (project.path / "task.yaml").read_text()
    kept = [line for line in task.splitlines() if not line.startswith(("scorer:", "metrics:"))]
    project.write("task.yaml", "\n".join([*kept, SCORER]))
    project.write("test_sums.py", CORRECT)
    project.write("gate.yaml", "rules:\n  sums.judge.style: {min: 3.9, max: 4.1, point: true}\n")
    result = project.run(
        *("--llmeval-model", "python/./model.py:reply", "--llmeval-limit", "3"),
        *("--llmeval-judge", "python/./judge.py:reply", "--llmeval-gate", "gate.yaml"),
        "--llmeval-groups",
    )
    assert project.outcomes() == {"0": "incorrect", "1": "correct", "2": "incorrect"}
    scores = {score["name"]: score for score in project.rows()[1]["scores"]}
    assert {name: score["value"] for name, score in scores.items()} == {
        "judge": 4.5,
        "judge.truth": 5,
        "judge.style": 4,
    }
    assert [score["decides"] for score in scores.values()] == [True, False, False]
    assert {score["grader"] for score in scores.values()} == {scores["judge"]["grader"]}
    result.stdout.fnmatch_lines(["*judge 0–5 *judge.truth 0–5*"])
    result.stdout.fnmatch_lines(["*sums.judge.style *4 *pass*"])


def test_tests_ask_the_judge_anything_by_hand(project: Project) -> None:
    project.write("test_sums.py", BY_HAND)
    result = project.run("--llmeval-judge", "python/./judge.py:reply")
    result.assert_outcomes(passed=7)

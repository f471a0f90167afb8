"""Judges of a run, their validation, and models that cannot read a task's pictures."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from example_pictures import PNG

if TYPE_CHECKING:
    from plugin.conftest import Project

JUDGE = """
def strict(request):
    text = request.messages[-1].text
    right = "more than enough" not in text
    return '{"answer_correct": %d, "reason": "strict"}' % right

def lenient(request):
    return '{"answer_correct": 1, "reason": "lenient"}'

def mute(request):
    return "no idea"
"""

# Plain for even numbers; for odd ones in words that only a judge can read, of which 3 is wrong.
MODEL = """
import re

def reply(request):
    number = int(re.search(r"what is (\\d+)", request.messages[-1].text)[1])
    if number % 2 == 0:
        return f"The answer is {number + 1}"
    return f"as many as {number + 1}" + (", or more than enough" if number == 3 else "")
"""

TEST = """
import pytest
from pytest_llmeval import assert_judge_equivalent

pytestmark = pytest.mark.llmeval("task.yaml")

def test_sums(sample, completion):
    assert_judge_equivalent(completion.answer, sample.target)
"""

VALIDATION = {
    "schema": 1,
    "question": "judge/1 prompt 00895f1b",
    "votes": 1,
    "made": "2026-11-22",
    "all": {
        "n": 143,
        "unscored": 0,
        "accuracy": 0.99,
        "false_positives": 1,
        "false_positive_rate": 0.01,
        "confusion": {
            "true_positives": 70,
            "false_negatives": 0,
            "true_negatives": 72,
            "false_positives": 1,
        },
        "kappa": 0.97,
        "kappa_95": [0.92, 0.99],
    },
}

STRICT, LENIENT = (f"--llmeval-judge=python/./judge.py:{name}" for name in ("strict", "lenient"))
RUN = ("--llmeval-model", "python/./model.py:reply", "--llmeval-limit", "6")


@pytest.fixture
def project(project: Project) -> Project:
    """Return the project with answers that are judged."""
    task = (project.path / "task.yaml").read_text()
    project.write("task.yaml", task.replace("scorer: {sldp: {tolerance: 0.01}}", "scorer: judge"))
    project.write("test_sums.py", TEST)
    project.write("model.py", MODEL)
    project.write("judge.py", JUDGE)
    return project


def validated(project: Project, judge: str) -> None:
    project.write("reports/validations/it.json", json.dumps({"judge": judge, **VALIDATION}))


def judging(project: Project) -> dict[str, Any]:
    found: dict[str, Any] = project.summary()["entries"][0]["tally"]["judging"]
    return found


def details(project: Project) -> dict[str, Any]:
    return {row["sample"]: row["scores"][0]["details"] for row in project.rows()}


def test_who_decided_stands_in_rows_and_table_and_the_gate_knows_the_validation(
    project: Project,
) -> None:
    validated(project, "python/./judge.py:strict")
    project.write("gate.yaml", "rules:\n  judge.kappa: {min: 0.9}\n  sums.accuracy: {min: 0.4}\n")
    result = project.run(*RUN, STRICT, "--llmeval-gate", "gate.yaml", "--llmeval-groups")
    assert result.ret == 0
    assert {sample: one["decided_by"] for sample, one in details(project).items()} == {
        **dict.fromkeys("024", "symbolic"),
        **dict.fromkeys("135", "judge"),
    }
    assert judging(project)["deciders"] == {"judge": 3, "symbolic": 3}
    result.stdout.fnmatch_lines(
        ["*judged scores decided by*", "*judged by python/./judge.py:strict: kappa 0.970*"]
    )
    [told] = json.loads((project.path / "reports/latest/run.json").read_text())["judges"]
    assert (told["task"], told["judge"], told["validation"]["kappa"]) == (
        "sums",
        "python/./judge.py:strict",
        0.97,
    )


def test_a_broken_validation_is_told_before_anything_is_asked(project: Project) -> None:
    project.write("reports/validations/it.json", "{}")
    result = project.run(*RUN, STRICT)
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*it.json*no validation*"])


def test_without_a_judge_plain_answers_are_decided_and_the_rest_is_unscored(
    project: Project,
) -> None:
    project.run(*RUN).assert_outcomes(passed=3, errors=3)
    assert judging(project)["deciders"] == {"nobody": 3, "symbolic": 3}
    assert {outcome for sample, outcome in project.outcomes().items() if int(sample) % 2} == {
        "unscored"
    }


def test_a_tasks_judges_decide_by_majority_without_prefilter_and_need_a_validation_of_their_own(
    project: Project,
) -> None:
    validated(project, "python/./judge.py:strict")
    project.write("gate.yaml", "rules:\n  judge.kappa: {min: 0.9}\n")
    judges = ", ".join(f"python/./judge.py:{name}" for name in ("strict", "lenient", "mute"))
    task = (project.path / "task.yaml").read_text()
    project.write(
        "task.yaml",
        task.replace("scorer: judge", f"scorer: {{judge: {{models: [{judges}], prefilter: off}}}}"),
    )
    result = project.run(*RUN, "--llmeval-gate", "gate.yaml")
    # of three judges two let all pass but 3: there one is for, one against, one mute
    assert project.outcomes() == {**dict.fromkeys("01245", "correct"), "3": "unscored"}
    found = details(project)["3"]
    assert found["decided_by"] is None
    assert [opinion["correct"] for opinion in found["opinions"]] == [False, True, None]
    assert judging(project)["deciders"] == {"judge": 5, "nobody": 1}
    result.stdout.fnmatch_lines(["*not validated for this (llmeval validate)*"])
    assert result.ret == 1


def test_several_judges_cannot_share_a_recording(project: Project) -> None:
    result = project.run(*RUN, STRICT, LENIENT, "--llmeval-keep", "replies.jsonl")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*--llmeval-keep replies.jsonl takes one --llmeval-judge*"])


def give_sample_4_a_picture(project: Project, **task: str) -> None:
    """Add a picture to sample 4, and replace texts of the task file."""
    text = (project.path / "task.yaml").read_text()
    text = text.replace("tags: [kind]", "tags: [kind], images: ['picture?']")
    for old, new in task.items():
        text = text.replace(old, new)
    project.write("task.yaml", text)
    lines = [json.loads(line) for line in (project.path / "data.jsonl").read_text().splitlines()]
    (project.path / "1.png").write_bytes(PNG)
    lines[4]["picture"] = "1.png"
    project.write("data.jsonl", "".join(f"{json.dumps(line)}\n" for line in lines))


def test_a_model_without_vision_is_refused_before_any_call(project: Project) -> None:
    give_sample_4_a_picture(project)
    model = "openai/some-text-model,vision=off,base_url=http://127.0.0.1:9/v1"
    result = project.run("--llmeval-model", model)
    assert result.ret == 4
    result.stderr.fnmatch_lines(
        [f"*{model} reads no pictures, and sample '4' of task 'sums' has some*"]
    )


def test_a_judge_gets_the_pictures_where_the_task_says_so_and_one_without_vision_is_refused(
    project: Project,
) -> None:
    give_sample_4_a_picture(project, judge="{judge: {prefilter: off, pictures: true}}")
    project.run(*RUN, STRICT)
    judged = [
        [call for call in line["events"] if call["asked"]["role"] == "judge"]
        for line in project.transcripts()
    ]
    parts = [[*call["asked"]["messages"][-1]["parts"]] for [call] in judged]
    assert [["image" in part for part in one] for one in parts] == [
        *[[False]] * 4,
        [True, False],  # before the question
        [False],
    ]
    (score,) = project.rows()[4]["scores"]
    assert "pictures=true" in score["grader"]
    blind = "openai/blind,vision=off,base_url=http://127.0.0.1:9"
    result = project.run(*RUN, "--llmeval-judge", blind)
    assert result.ret == 4
    result.stderr.fnmatch_lines([f"*{blind} reads no pictures, and sample '4' of task*"])

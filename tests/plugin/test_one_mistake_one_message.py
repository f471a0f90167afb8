"""A mistake in a task is told once, before anything is asked, and no other task suffers from it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

if TYPE_CHECKING:
    from plugin.conftest import Project

MISTAKES: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parent / "cases" / "mistakes.yaml").read_text(encoding="utf-8")
)
SCRIPTED = ("--llmeval-model", "python/./model.py:reply")
MODES = pytest.mark.parametrize("mode", ["-n0", "-n2"])

# The order of the lines of each task, by which the cases name lines.
KEYS = ("name", "dataset", "prompt", "generate", "answer", "scorer", "solver")
TEST = """import pytest
from pytest_llmeval import assert_correct

pytestmark = pytest.mark.llmeval("{name}.yaml")

{body}
"""
BODY = "def test_it(sample, completion): assert_correct(sample, completion)"
MODEL = """
import os
from pytest_llmeval import Reply

def reply(request):
    with open(os.path.join(os.path.dirname(__file__), "asked.txt"), "a") as asked:
        asked.write(request.messages[-1].text + "\\n")
    return "1"
"""
OWN = """
def one(sample): return 1

def now():
    'Tell the time.'
    return "12:00"
"""


def write_case(project: Project, name: str, case: dict[str, Any]) -> None:
    """Write the task, the dataset and the test of one case."""
    given = dict(case.get("task", {}))
    fields = {"id": "id", "input": "question", "target": "answer", "tags": ["kind"]}
    if "metadata" in given:
        fields["metadata"] = given.pop("metadata")
    dataset = {"path": given.pop("path", f"{name}.jsonl"), "fields": fields}
    if "keep" in given:
        dataset["keep"] = given.pop("keep")
    task = {
        "name": name,
        "dataset": dataset,
        "prompt": "Q: {{ input }}",
        "generate": {},
        "answer": "whole",
        "scorer": "sldp",
        "solver": "direct",
    }
    if given.keys() - set(KEYS) - {"group_by"} and "group_by" not in given:
        fields.pop("tags")
    task.update(given)
    task.setdefault("group_by", ["kind"])
    order = [*KEYS, *(key for key in task if key not in KEYS and key != "group_by"), "group_by"]
    lines = []
    for key in order:
        value = task[key]
        if key == "prompt" and isinstance(value, list):
            lines.append("prompt:")
            lines += [f"  - {json.dumps(message)}" for message in value]
        else:
            lines.append(f"{key}: {json.dumps(value)}")
    project.write(f"{name}.yaml", "\n".join(lines) + "\n")
    rows = case.get("rows") or [
        {"id": n, "question": f"{name} {n}", "answer": "1", "kind": "x"} for n in range(12)
    ]
    project.write_lines(f"{name}.jsonl", rows)
    project.write(f"test_{name}.py", TEST.format(name=name, body=case.get("body", BODY)))


def write_project(project: Project) -> None:
    for old in project.path.glob("*"):
        if old.suffix in {".py", ".yaml", ".jsonl"}:
            old.unlink()
    project.write("model.py", MODEL)
    project.write("own.py", OWN)
    project.write("broken.py", "1 / 0\n")
    write_case(project, "sound", {})


def asked(project: Project) -> list[str]:
    file = project.path / "asked.txt"
    return file.read_text().splitlines() if file.exists() else []


@MODES
def test_each_mistake_is_told_once_and_costs_nothing(project: Project, mode: str) -> None:
    write_project(project)
    names = [f"c{number:02}" for number in range(len(MISTAKES))]
    for name, case in zip(names, MISTAKES, strict=True):
        write_case(project, name, case)
    result = project.run(*SCRIPTED, mode)
    output = result.stdout.str()
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    told, _, _ = output.partition("short test summary info")
    assert "Traceback" not in output
    sections = re.split(r"^_+ ERROR at setup of .* _+$", told, flags=re.MULTILINE)[1:]
    for name, case in zip(names, MISTAKES, strict=True):
        parts = [part.replace("NN", name) for part in case["told"]]
        having = [section for section in sections if parts[0] in section]
        assert len(having) == 1, (case["name"], parts[0], sections)
        assert all(part in having[0] for part in parts), (case["name"], parts, having)
    assert len(sections) == len(MISTAKES)
    assert sorted(asked(project)) == sorted(f"Q: sound {n}" for n in range(12))
    counts = result.parseoutcomes()
    assert (counts["passed"], counts["errors"]) == (12, len(MISTAKES))
    assert counts.keys() <= {"passed", "errors", "skipped"}


COLLECTING = ("an undefined name in a template", "several wrong rows", "somebody else's sample")


@pytest.mark.parametrize("name", COLLECTING)
def test_listing_the_tests_tells_a_mistake_too(project: Project, name: str) -> None:
    write_project(project)
    case = next(case for case in MISTAKES if case["name"] == name)
    write_case(project, "c00", case)
    result = project.run(*SCRIPTED, "--collect-only", "-q")
    assert result.ret != pytest.ExitCode.OK
    shown = result.stdout.str() + result.stderr.str()
    for part in case["told"]:
        assert shown.count(part.replace("NN", "c00")) == 1, shown
    assert asked(project) == []


def write_many(project: Project, name: str, body: str) -> None:
    """Write a task with 300 samples."""
    rows = [{"id": n, "question": f"{name} {n}", "answer": "1", "kind": "x"} for n in range(300)]
    write_case(project, name, {"rows": rows, "body": body})


# What is wrong: the body, its exception, and how many failures show that it is always so.
BUGS = {
    "attribute": (BODY.replace("assert_", "completion.anwser; assert_"), "AttributeError", 3),
    "name": (BODY.replace("assert_correct", "assert_corect"), "NameError", 3),
    "key": (BODY.replace("assert_", "sample.metadata['hint']; assert_"), "KeyError", 3),
    "differing": (BODY.replace("assert_", "raise OSError(sample.input); assert_"), "OSError", 10),
}
CONCURRENCY = 4


@MODES
def test_a_bug_in_a_body_stops_its_requests_after_the_first_failures(
    project: Project, mode: str
) -> None:
    write_project(project)
    for name, (body, _, _) in BUGS.items():
        write_many(project, name, body)
    result = project.run(*SCRIPTED, "--llmeval-concurrency", str(CONCURRENCY), mode)
    assert result.parseoutcomes()["passed"] == 12
    sent = asked(project)
    for name, (_, kind, enough) in BUGS.items():
        (remark,) = (line for line in result.outlines if f"errors are {kind} of the test" in line)
        assert remark.endswith(f"test_{name}.py:6")
        # The other worker may have begun a test or two before the stop arrived.
        assert enough <= int(remark.split()[0]) <= enough + 3
        requests = sum(text.startswith(f"Q: {name} ") for text in sent)
        assert requests <= enough + 3 + 2 * CONCURRENCY


def test_a_body_that_stumbles_over_some_replies_goes_on(project: Project) -> None:
    stumbles = "if int(sample.id) % 3: raise ValueError(sample.id)\n    "
    write_project(project)
    write_many(project, "many", BODY.replace(": assert_", f":\n    {stumbles}assert_"))
    result = project.run(*SCRIPTED, "-n0")
    counts = result.parseoutcomes()
    assert counts["passed"] == 112
    assert "skipped" not in counts
    result.stdout.fnmatch_lines(["200 errors are ValueError of the test body*"])


def test_all_wrong_rows_are_told_up_to_a_number(project: Project) -> None:
    write_project(project)
    rows = [{"id": n, "question": "q", "answer": "", "kind": "x"} for n in range(300)]
    write_case(project, "many", {"rows": rows})
    # Without the short summary, which repeats whole messages where CI is set.
    result = project.run(*SCRIPTED, "-n0", "-rN")
    told = [line for line in result.outlines if re.search(r"many.jsonl:\d+: answer: row", line)]
    assert len(told) == 20
    assert result.outlines.count("and 280 more") == 1
    result.assert_outcomes(passed=12, errors=1)


NO_MODEL = "*task 'sound' has no recorded replies, and no model is configured: *--llmeval-model *"


@MODES
def test_a_task_without_a_model_is_skipped_with_the_reason(project: Project, mode: str) -> None:
    write_project(project)
    project.write("test_other.py", "def test_other(): pass")
    result = project.run(mode, "-rs")
    result.assert_outcomes(passed=1, skipped=12)
    result.stdout.fnmatch_lines([NO_MODEL])
    assert not (project.path / "reports").exists()


NAMING = (["test_sound.py"], ["test_sound.py::test_it", "-n2"], ["-k", "sound"])


@pytest.mark.parametrize("arguments", NAMING, ids=" ".join)
def test_a_missing_model_of_a_named_task_is_told(project: Project, arguments: list[str]) -> None:
    write_project(project)
    result = project.run(*arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([NO_MODEL])


def test_a_word_that_only_excludes_others_names_no_task(project: Project) -> None:
    write_project(project)
    project.run("-k", "not other").assert_outcomes(skipped=12)


def test_a_fixture_that_extends_ours_is_allowed(project: Project) -> None:
    write_project(project)
    extended = "@pytest.fixture\ndef sample(sample): return sample\n\n"
    write_case(project, "c00", {"body": extended + BODY})
    project.run(*SCRIPTED).assert_outcomes(passed=24)


def test_a_wrong_override_of_one_of_several_tasks_is_told_once(project: Project) -> None:
    write_project(project)
    write_case(project, "c00", {})
    result = project.run(*SCRIPTED, "--llmeval-set", "c00.version=soon")
    result.assert_outcomes(passed=12, errors=1)
    told, _, _ = result.stdout.str().partition("short test summary info")
    assert told.count("--llmeval-set c00.version=soon: ") == 1
    assert "tasks collected here" not in result.stdout.str() + result.stderr.str()


def test_a_recording_that_is_none_is_told_for_its_task_only(project: Project) -> None:
    write_project(project)
    write_case(project, "sound", {"task": {"replay": "sound.jsonl"}})
    write_case(project, "c00", {"task": {"replay": "absent.jsonl"}})
    project.write("test_other.py", "def test_other(): pass")
    result = project.run()
    result.assert_outcomes(passed=1, errors=2, skipped=22)
    result.stdout.fnmatch_lines(
        ["*c00.yaml:8: replay: *absent.jsonl: the recording cannot be read: No such file*"]
    )
    result.stdout.fnmatch_lines(
        ["*sound.yaml:8: replay: *sound.jsonl:1: not a line of a recording*"]
    )

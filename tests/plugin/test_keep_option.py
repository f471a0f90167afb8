"""A recorded run is replayed without a call, and a request that was not recorded is an error."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from plugin.conftest import Project

SCRIPTED = ["--llmeval-model", "python/./model.py:reply"]
REPLAY = ["--llmeval-model", "replay/replies.jsonl"]
MODES = pytest.mark.parametrize("mode", [["-n0"], ["-n2"]], ids=["-n0", "-n2"])


@MODES
def test_a_recording_gives_the_same_outcomes_without_a_call(
    project: Project, mode: list[str]
) -> None:
    project.run(*SCRIPTED, *mode, "--llmeval-keep", "replies.jsonl")
    live = project.outcomes()
    assert len(project.calls()) == 12
    project.run(*REPLAY, *mode)
    assert project.outcomes() == live
    assert project.calls() == []
    assert all(row["recorded"] for row in project.rows())


def test_a_task_without_a_model_runs_its_own_recording_and_the_title_says_so(
    project: Project,
) -> None:
    project.run(*SCRIPTED, "--llmeval-keep", "replies.jsonl")
    project.calls()
    project.write("task.yaml", (project.path / "task.yaml").read_text() + "replay: replies.jsonl\n")
    result = project.run()
    result.assert_outcomes(passed=8, failed=3, errors=1)
    result.stdout.fnmatch_lines(["Recorded replies ran; no live model did.*"])
    assert project.calls() == []
    assert {row["model"] for row in project.rows()} == {"recorded"}


def test_recording_twice_gives_the_same_file(project: Project) -> None:
    def recorded() -> list[dict[str, Any]]:
        project.run(*SCRIPTED, "-n2", "--llmeval-keep", "replies.jsonl")
        lines = map(json.loads, (project.path / "replies.jsonl").read_text().splitlines())
        # All but when the replies came, and how fast.
        return [{**line, "created": 0, "reply": line["reply"]["text"]} for line in lines]

    first = recorded()
    assert len(first) == 11
    assert recorded() == first


def test_a_request_that_was_not_recorded_is_an_error_that_shows_the_nearest_one(
    project: Project,
) -> None:
    project.run(*SCRIPTED, "--llmeval-keep", "replies.jsonl", "-k", "not 0011")
    result = project.run(*REPLAY, "-k", "0011")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        ["*no recorded reply to this request; the nearest one differs in messages*"]
    )


def test_other_parameters_are_another_request(project: Project) -> None:
    project.run(*SCRIPTED, "--llmeval-keep", "replies.jsonl", "-k", "0001")
    result = project.run(*REPLAY, "-k", "0001", "--llmeval-set", "sums.generate.temperature=1")
    result.stdout.fnmatch_lines(["*the nearest one differs in parameters*"])


@MODES
def test_epochs_are_recorded_and_replayed_apart(project: Project, mode: list[str]) -> None:
    two = [*mode, "--llmeval-epochs", "2", "--llmeval-limit", "3"]
    project.run(*SCRIPTED, *two, "--llmeval-keep", "replies.jsonl")
    assert project.calls() == [0, 0, 1, 1, 2, 2]
    project.run(*REPLAY, *two).assert_outcomes(passed=4, failed=2)


def test_several_models_run_side_by_side(project: Project) -> None:
    project.write("other.py", "def reply(request):\n    return '1'\n")
    result = project.run(
        *SCRIPTED,
        "--llmeval-model",
        "python/./other.py:reply",
        "--llmeval-limit",
        "2",
        "--co",
        "-q",
    )
    assert result.outlines[:4] == [
        "test_sums.py::test_sums[0000-python-model-py-reply]",
        "test_sums.py::test_sums[0000-python-other-py-reply]",
        "test_sums.py::test_sums[0001-python-model-py-reply]",
        "test_sums.py::test_sums[0001-python-other-py-reply]",
    ]
    project.run(*SCRIPTED, "--llmeval-model", "python/./other.py:reply", "--llmeval-limit", "2")
    assert [row["outcome"] for row in project.rows()] == [
        "incorrect",
        "correct",
        "correct",
        "incorrect",
    ]

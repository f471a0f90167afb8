"""``samples.jsonl`` of runs: there from the beginning, whatever becomes of the run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_llmeval.results.questions import read_questions
from pytest_llmeval.results.stored_run import find_run, read_run
from pytest_llmeval.session.merging import merge

if TYPE_CHECKING:
    from plugin.conftest import Project

SCRIPTED = ["--llmeval-model", "python/./model.py:reply"]

pytestmark = pytest.mark.usefixtures("quick_sessions")


def asked(run: Path) -> list[str]:
    return [question.sample for question in read_questions(find_run(run))]


def test_a_run_that_ends_early_has_the_questions_of_its_plan_and_a_resumed_one_adds_its_own(
    project: Project,
) -> None:
    latest = project.path / "reports" / "latest"
    project.run(*SCRIPTED, "-x", "-k", "0000 or 0001 or 0002")
    assert asked(latest) == ["0", "1", "2"]
    project.run(*SCRIPTED, "-k", "0002 or 0003", "--llmeval-resume")
    assert asked(latest) == ["0", "1", "2", "3"]
    rows = {row["sample"]: row["question"] for row in project.rows()}
    assert rows == {one.sample: one.question for one in read_questions(find_run(latest))}


def test_shards_bring_their_questions_into_the_merged_run(project: Project) -> None:
    reports = project.path / "reports"
    for part in (1, 2):
        project.run(*SCRIPTED, "-n2", "--llmeval-shard", f"{part}/2")
    shards = [read_run(folder) for folder in sorted(reports.glob("2*"))]
    assert [len(asked(run.path)) for run in shards] == [6, 6]
    whole = merge(shards, reports)
    assert whole.path is not None
    assert sorted(asked(whole.path), key=int) == [str(number) for number in range(12)]


def test_a_run_that_is_scored_again_has_the_questions_of_the_first(
    project: Project,
) -> None:
    project.run(*SCRIPTED, "-k", "0001 or 0002")
    first = find_run(project.path / "reports" / "latest")
    result = project.pytester.run(
        *(sys.executable, "-m", "pytest_llmeval", "rescore", str(first)),
        *("--scorer", "includes", "--report", "reports"),
    )
    assert result.ret == 0, result.outlines
    (again,) = set(project.path.glob("reports/2*")) - {first}
    assert list(read_questions(again)) == list(read_questions(first))

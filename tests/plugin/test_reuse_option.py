"""Answers of other runs: only on request, told in every row, and never older than allowed."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from plugin.conftest import Project

SCRIPTED = ["--llmeval-model", "python/./model.py:reply"]
CACHE = ["--llmeval-keep", "cache", "--llmeval-reuse", "cache"]
CACHED = [*SCRIPTED, "-k", "not 0007", *CACHE]
MODES = pytest.mark.parametrize("mode", [["-n0"], ["-n2"]], ids=["-n0", "-n2"])


def grow_older(project: Project, seconds: float) -> None:
    """Make all cached answers older."""
    with sqlite3.connect(project.path / "cache" / "replies.sqlite3") as connection:
        connection.execute(
            "UPDATE replies SET created = created - ?1, "
            "record = json_set(record, '$.created', json_extract(record, '$.created') - ?1)",
            (seconds,),
        )
    connection.close()


@MODES
def test_a_second_run_makes_no_call_and_says_so_in_every_row_and_above_the_table(
    project: Project, mode: list[str]
) -> None:
    project.run(*CACHED, *mode)
    assert len(project.calls()) == 11
    assert not any(row["cached"] for row in project.rows())
    live = project.outcomes()
    grow_older(project, 3600)
    result = project.run(*CACHED, *mode)
    result.stdout.fnmatch_lines(["*11 of 11 rows are cached from other runs*"])
    assert project.calls() == []
    assert project.outcomes() == live
    assert all(row["cached"] and 3600 <= row["age"] < 7200 for row in project.rows())


def test_without_the_option_a_run_reads_its_own_answers_alone(project: Project) -> None:
    project.run(*CACHED)
    project.calls()
    project.run(*SCRIPTED, "-k", "0001")
    assert project.calls() == [1]


def test_answers_that_are_too_old_are_asked_again(project: Project) -> None:
    project.run(*CACHED, "--llmeval-limit", "2")
    project.calls()
    grow_older(project, 8 * 86_400)
    project.run(*CACHED, "--llmeval-limit", "2", "--llmeval-reuse", "cache,max_age=9d")
    assert project.calls() == []
    project.run(*CACHED, "--llmeval-limit", "2", "--llmeval-reuse", "cache,max_age=7d")
    assert project.calls() == [0, 1]
    project.run(*CACHED, "--llmeval-limit", "2", "--llmeval-reuse", "cache,max_age=60")
    assert project.calls() == []


@pytest.mark.parametrize("age", ["soon", "7w", "0", "-1h", "inf"])
def test_an_age_that_is_no_span_of_time_is_a_usage_error(project: Project, age: str) -> None:
    result = project.run(*CACHED, f"--llmeval-reuse=cache,max_age={age}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [f"*--llmeval-reuse 'cache,max_age={age}': max_age: '{age}' is not a span of time*7d*"]
    )


def test_recorded_replies_neither_fill_nor_use_the_cache(project: Project) -> None:
    project.run(*SCRIPTED, "-k", "not 0007", "--llmeval-keep", "replies.jsonl")
    other = ["--llmeval-keep", "other", "--llmeval-reuse", "other"]
    project.run("--llmeval-model", "replay/replies.jsonl", "-k", "not 0007", *other)
    rows = project.rows()
    assert all(row["recorded"] and not row["cached"] for row in rows)
    with sqlite3.connect(project.path / "other" / "replies.sqlite3") as connection:
        assert connection.execute("SELECT count(*) FROM replies").fetchone() == (0,)
    connection.close()


def test_a_resumed_run_tells_its_own_answers_from_cached_ones(project: Project) -> None:
    project.run(*SCRIPTED, "-k", "0001", *CACHE)
    grow_older(project, 60)
    project.run(*SCRIPTED, "-k", "0001 or 0002", *CACHE)
    project.calls()
    project.run(*SCRIPTED, "-k", "0001 or 0002", "--llmeval-resume")
    assert project.calls() == []
    assert [row["cached"] for row in project.rows()] == [True, False]

"""The rows of a run as they come in."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from msgspec.structs import replace
from session.one_task import OneTask

from pytest_llmeval.errors import UsageError
from pytest_llmeval.files.redaction import Redactor
from pytest_llmeval.files.writes import Writes
from pytest_llmeval.records import Row
from pytest_llmeval.results.store import RunFolder
from pytest_llmeval.results.stored_run import read_run
from pytest_llmeval.session.row_log import RowLog
from pytest_llmeval.session.rows import unreported_row


class Written:
    """A run's folder that keeps what is written, or fails."""

    def __init__(self, error: Exception | None = None) -> None:
        """Fail with `error`, if there is one."""
        self.rows, self.error = list[Row](), error

    def add_row(self, row: Row) -> Row:
        if self.error is not None:
            raise self.error
        self.rows.append(row)
        return row


@pytest.fixture
def task(tmp_path: Path) -> OneTask:
    return OneTask(tmp_path)


def log_of(task: OneTask, folder: Any, earlier: tuple[Row, ...] = ()) -> RowLog:
    return RowLog(task.catalog(), lambda: folder, Writes(), earlier)


def rows_of(task: OneTask, outcome: Any = "correct") -> list[Row]:
    loaded = task.catalog().load(task.file)
    return [unreported_row(test, loaded, outcome, "") for test in task.plan("openai/m").tests]


def test_a_row_is_written_at_once(task: OneTask) -> None:
    written = Written()
    log = log_of(task, written)
    first, second, _ = rows_of(task)
    log.add(first)
    assert written.rows == [first]
    log.add(second)
    assert (written.rows, log.rows, log.reported) == ([first, second], (first, second), 2)


def test_the_last_report_of_a_test_counts_and_tells_how_many_there_were(task: OneTask) -> None:
    written = Written()
    log = log_of(task, written)
    (first, *_) = rows_of(task)
    for outcome in ("error", "incorrect", "correct"):
        log.add(replace(first, outcome=outcome))
    assert [(row.outcome, row.reports) for row in log.rows] == [("correct", 3)]
    assert [row.reports for row in written.rows] == [1, 2, 3]


def test_without_a_folder_rows_are_kept_alone(task: OneTask) -> None:
    writes = Writes()
    log = RowLog(task.catalog(), lambda: None, writes)
    log.add(rows_of(task)[0])
    assert (log.reported, writes.failures) == (1, ())


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), UsageError("locked")])
def test_a_row_that_cannot_be_written_is_kept_ends_the_run_and_is_written_later(
    task: OneTask, error: Exception
) -> None:
    told = list[str]()
    writes, written = Writes(told.append), Written(error)
    log = RowLog(task.catalog(), lambda: written, writes)  # type: ignore[arg-type, return-value]
    first, *_ = rows_of(task)
    log.add(first)
    assert (log.reported, log.rows) == (1, (first,))
    assert writes.failures == tuple(told) == (f"rows cannot be written any more: {error}",)
    written.error = None
    log.complete(task.plan("openai/m"))
    assert written.rows[0] == first


def test_rows_of_a_resumed_run_stand_until_they_are_reported_again(task: OneTask) -> None:
    earlier = tuple(rows_of(task))
    log = log_of(task, Written(), earlier)
    assert (log.rows, log.reported) == (earlier, 0)
    log.add(replace(earlier[1], outcome="incorrect"))
    assert [row.outcome for row in log.rows] == ["correct", "incorrect", "correct"]
    assert [row.reports for row in log.rows] == [1, 1, 1]


def test_a_test_that_does_not_run_again_keeps_its_earlier_row(task: OneTask) -> None:
    earlier = rows_of(task)[0]
    written = Written()
    log = log_of(task, written, (earlier,))
    log.add(replace(earlier, outcome="not run"))
    assert (log.rows, written.rows, log.reported) == ((earlier,), [], 0)


def test_every_planned_test_has_a_row_in_the_end(task: OneTask) -> None:
    first, second, third = rows_of(task)
    log = log_of(task, Written(), (third,))
    log.add(first)
    log.complete(task.plan("openai/m"))
    outcomes = {row.sample: (row.outcome, row.explanation) for row in log.rows}
    assert outcomes == {
        "0": ("correct", ""),
        "1": ("not run", "never reported"),
        "2": ("correct", ""),
    }
    added = next(row for row in log.rows if row.sample == "1")
    assert (added.target, added.model, added.versions) == ("1", "openai/m", second.versions)


def test_a_test_over_which_a_worker_died_is_an_error_with_the_reason(task: OneTask) -> None:
    log = log_of(task, Written())
    log.add_unreported(task.plan("openai/m").tests[0], "error", "worker 'gw0' crashed")
    (row,) = log.rows
    assert (row.outcome, row.explanation, row.scores) == ("error", "worker 'gw0' crashed", ())


def test_rows_reach_the_folder_of_a_run(task: OneTask, tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "reports", {}, redactor=Redactor.of({}))
    log = RowLog(task.catalog(), lambda: folder, Writes())
    for row in rows_of(task):
        log.add(row)
    folder.close()
    assert read_run(folder.path).rows == log.rows


def test_an_interrupt_at_any_line_loses_no_row_and_breaks_no_line(
    task: OneTask, tmp_path: Path
) -> None:
    rows = rows_of(task)
    interrupted = 0
    for moment in range(1, 1000):
        folder = RunFolder.create(tmp_path / str(moment), {}, redactor=Redactor.of({}))
        log = RowLog(task.catalog(), lambda folder=folder: folder, Writes())  # type: ignore[misc]
        log.add(rows[0])
        try:
            with interrupt_at(moment):
                log.add(rows[1])
        except KeyboardInterrupt:
            interrupted += 1
        log.complete(task.plan("openai/m"))
        folder.close()
        stored = read_run(folder.path)
        assert stored.remarks == ()
        assert {row.key for row in stored.rows} == {row.key for row in log.rows}
        assert len(stored.rows) == len(rows), f"interrupted at line {moment}"
        if interrupted < moment:
            break
    assert interrupted > 20


@contextmanager
def interrupt_at(moment: int) -> Iterator[None]:
    """Raise KeyboardInterrupt at a line, counted from 1, of what this package runs in the block."""
    left = moment

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal left
        if "pytest_llmeval" not in frame.f_code.co_filename:
            return None
        if event == "line":
            left -= 1
            if not left:
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


def test_a_row_of_a_resumed_run_leaves_memory_with_the_report_that_replaces_it(
    task: OneTask,
) -> None:
    earlier = [replace(row, outcome="error") for row in rows_of(task)]
    log = log_of(task, Written(), tuple(earlier))
    held = [sys.getrefcount(row) for row in earlier]
    for row in rows_of(task):
        log.add(row)
    assert [sys.getrefcount(row) for row in earlier] == [count - 1 for count in held]
    assert [row.outcome for row in log.rows] == ["correct"] * len(earlier)

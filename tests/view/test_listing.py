"""The list of runs: what it tells, and that it keeps up with files that change."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from view.viewing import conclude, ended, going_on, row

from pytest_llmeval.results.stored_run import read_run
from pytest_llmeval.results.summarise import summarise
from pytest_llmeval.view.listing import Listing
from pytest_llmeval.view.runs_folder import RunsFolder


def listing(reports: Path) -> Listing:
    return Listing(RunsFolder(reports))


def test_a_run_under_way_is_counted_as_it_grows(tmp_path: Path) -> None:
    rows = [row(number, "incorrect" if number % 3 else "correct") for number in range(9)]
    with going_on(tmp_path, planned=9) as folder:
        listed = listing(tmp_path)
        assert listed.runs()[0].line.done == 0
        for done, one in enumerate(rows, 1):
            folder.add_row(one)
            with (folder.path / "rows.jsonl").open("ab") as file:
                file.write(b'{"test": "half')
            [run] = listed.runs()
            assert (run.line.done, run.line.planned, run.state) == (done, 9, "running")
            with (folder.path / "rows.jsonl").open("r+b") as file:
                file.truncate(file.seek(0, 2) - len(b'{"test": "half'))
        before = listed.runs()[0].line.entries[0]
        conclude(folder, rows)
        [run] = listed.runs()
        assert run.state == "ended"
        after = run.line.entries[0]
        assert (after.value, after.low, after.high) == (before.value, before.low, before.high)


def test_rows_and_summary_tell_the_same(tmp_path: Path) -> None:
    rows = [
        row(number, outcome, epoch=epoch, model=model)
        for number, outcome in enumerate(("correct", "incorrect", "error", "unscored", "not run"))
        for epoch in (1, 2)
        for model in ("a", "b")
    ]
    folder = ended(tmp_path, rows)
    told = listing(tmp_path).runs()[0].line
    (folder / "summary.json").unlink()
    counted = listing(tmp_path).runs()[0].line
    assert counted.entries == told.entries
    assert (counted.done, counted.planned) == (told.done, told.planned)
    assert counted.cost == pytest.approx(told.cost)
    figures = summarise(read_run(folder).rows, {}).entries[0].figures
    assert (counted.entries[0].low, counted.entries[0].counts) == (
        figures.accuracy.low,
        figures.counts,
    )


def test_a_row_that_is_reported_again_counts_once(tmp_path: Path) -> None:
    with going_on(tmp_path, planned=2) as folder:
        listed = listing(tmp_path)
        folder.add_row(row(1, "error"))
        assert listed.runs()[0].line.entries[0].counts.error == 1
        folder.add_row(row(1, "correct"))
        [run] = listed.runs()
    assert run.line.done == 1
    assert run.line.entries[0].counts.correct == 1


def test_runs_come_and_go_while_the_list_is_open(tmp_path: Path) -> None:
    first = ended(tmp_path, [row(1)])
    listed = listing(tmp_path)
    second = ended(tmp_path, [row(1)], day=1)
    assert [run.name for run in listed.runs()] == [second.name, first.name]
    shutil.rmtree(first)
    assert [run.name for run in listed.runs()] == [second.name]
    shutil.rmtree(second)
    assert listed.runs() == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("run.json", "{"),
        ("run.json", "[]"),
        ("run.json", json.dumps({"schema": 99})),
        ("run.json", json.dumps({"schema": 1, "tasks": 3})),
        ("summary.json", "{}"),
        ("summary.json", "\x00"),
        ("summary.json", json.dumps({"schema": 1, "entries": [{"task": "x"}]})),
    ],
)
def test_a_run_that_cannot_be_read_is_listed_with_the_reason(
    tmp_path: Path, name: str, text: str
) -> None:
    ended(tmp_path, [row(1)])
    broken = ended(tmp_path, [row(1)], day=1)
    (broken / name).write_text(text)
    problems = {run.name == broken.name: run.line.problem for run in listing(tmp_path).runs()}
    assert problems[True].startswith(name)
    assert not problems[False]

"""The accuracy of a task over runs, and between which of them it is of the same thing."""

from __future__ import annotations

from pathlib import Path

from view.viewing import ended, row

from pytest_llmeval.view.listing import Listing
from pytest_llmeval.view.runs_folder import RunsFolder
from pytest_llmeval.view.trend import TrendPoint, tasks_of, trend


def points(reports: Path, task: str = "sums") -> list[TrendPoint]:
    return trend(Listing(RunsFolder(reports)).runs(), task)


def test_points_are_in_the_order_of_time_whatever_runs_are_called(tmp_path: Path) -> None:
    for day, outcome in ((2, "correct"), (0, "incorrect"), (1, "correct")):
        ended(tmp_path, [row(1, outcome)], day=day)
    for number, folder in enumerate(sorted(tmp_path.glob("*Z-*"), reverse=True)):
        folder.rename(tmp_path / f"night {number}")
    found = points(tmp_path)
    assert [point.entry.value for point in found] == [0.0, 1.0, 1.0]
    assert [point.run.name for point in found] == ["night 2", "night 1", "night 0"]


def test_other_data_and_other_graders_are_marked_where_they_begin(tmp_path: Path) -> None:
    versions = [
        {"dataset": "d1", "grader:exact": "exact/1", "prompt": "p1"},
        {"dataset": "d1", "grader:exact": "exact/1", "prompt": "p2"},
        {"dataset": "d2", "grader:exact": "exact/1", "prompt": "p2"},
        {"dataset": "d2", "grader:exact": "exact/2", "prompt": "p2"},
        {"dataset": "d2", "prompt": "p2"},
        {"dataset": "d1", "grader:exact": "exact/1", "prompt": "p2"},
    ]
    for day, one in enumerate(versions):
        ended(tmp_path, [row(1, versions=one)], day=day)
    changed = [set(point.changed) for point in points(tmp_path)]
    assert changed == [set(), set(), {"data"}, {"exact"}, set(), {"data", "exact"}]


def test_models_and_tests_are_series_of_their_own(tmp_path: Path) -> None:
    ended(tmp_path, [row(1), row(1, model="b", versions={"dataset": "d9"})])
    ended(tmp_path, [row(1, test="t::other"), row(1, model="b", versions={"dataset": "d9"})], day=1)
    found = points(tmp_path)
    assert all(not point.changed for point in found)
    assert len({(point.entry.model, point.entry.test) for point in found}) == 3


def test_tasks_of_all_runs_can_be_chosen(tmp_path: Path) -> None:
    ended(tmp_path, [row(1, task="old")])
    ended(tmp_path, [row(1, task="new"), row(1)], day=1)
    assert tasks_of(Listing(RunsFolder(tmp_path)).runs()) == [
        ("new", "new"),
        ("old", "old"),
        ("sums", "sums"),
    ]
    assert points(tmp_path, "no such task") == []

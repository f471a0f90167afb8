"""Whether a run goes on, has ended or was cut off, by files that other clocks may have stamped."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from pytest_llmeval.view.activity import QUIET, Activity, State

NOW = 1_800_000_000.0


@dataclass
class Scene:
    """A run's files, stamped by a clock that is `ahead` seconds ahead of the viewer's."""

    folder: Path
    ahead: float = 0.0
    passed: float = 0.0
    activity: Activity = field(init=False)

    def __post_init__(self) -> None:
        """Begin to look."""
        self.activity = Activity(
            folder=self.folder, clock=lambda: self.passed, wall=lambda: NOW + self.passed
        )

    def write(self, name: str, text: str = "x", *, ago: float = 0.0) -> None:
        file = self.folder / name
        with file.open("a") as stream:
            stream.write(text)
        moment = NOW + self.passed + self.ahead - ago
        os.utime(file, (moment, moment))

    def look(self, done: int, planned: int = 4, *, after: float = 0.0) -> State:
        self.passed += after
        return self.activity.look(done, planned)


@pytest.fixture(params=[0.0, 40.0, -40.0], ids=["same clock", "theirs is ahead", "behind"])
def scene(tmp_path: Path, request: pytest.FixtureRequest) -> Scene:
    return Scene(tmp_path, ahead=request.param)


def test_a_run_that_writes_goes_on_until_its_summary(scene: Scene) -> None:
    scene.write("run.json")
    assert scene.look(0) == "running"
    for done in (1, 2, 3, 4):
        scene.write("rows.jsonl")
        assert scene.look(done, after=100) == "running"
    scene.write("summary.json")
    assert scene.look(4) == "ended"


def test_replies_without_rows_are_news_too(scene: Scene) -> None:
    scene.write("run.json")
    scene.look(0)
    for _ in range(5):
        scene.write("replies.sqlite3-wal")
        assert scene.look(0, after=QUIET * 0.9) == "running"


def test_a_run_without_news_was_cut_off_until_there_are_some(scene: Scene) -> None:
    scene.write("rows.jsonl")
    assert scene.look(2) == "running"
    assert scene.look(2, after=QUIET + 60) == "cut off"
    scene.write("rows.jsonl")
    assert scene.look(3, after=5) == "running"


def test_an_old_run_that_lacks_rows_was_cut_off_at_first_sight(scene: Scene) -> None:
    scene.write("rows.jsonl", ago=86_400)
    assert scene.look(2) == "cut off"
    scene.write("summary.json", ago=80_000)
    assert scene.look(2) == "cut off"


def test_a_run_that_is_resumed_goes_on_again(scene: Scene) -> None:
    scene.write("rows.jsonl", ago=9_000)
    scene.write("summary.json", ago=8_990)
    assert scene.look(4) == "ended"
    scene.write("rows.jsonl")
    assert scene.look(4) == "running"
    scene.write("summary.json")
    assert scene.look(4, after=2) == "ended"


def test_a_run_whose_files_were_copied_in_any_order_has_ended(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.write("summary.json", ago=3)
    scene.write("rows.jsonl", ago=1)
    assert scene.look(4) == "ended"


def test_a_clock_that_is_hours_ahead_ends_no_quiet_run_later_than_ours(tmp_path: Path) -> None:
    scene = Scene(tmp_path, ahead=7_200)
    scene.write("rows.jsonl")
    assert scene.look(2) == "running"
    assert scene.look(2, after=QUIET + 1) == "cut off"


def test_a_clock_that_is_hours_behind_hides_no_run_that_writes(tmp_path: Path) -> None:
    scene = Scene(tmp_path, ahead=-7_200)
    scene.write("rows.jsonl")
    assert scene.look(1) == "cut off"
    scene.write("rows.jsonl")
    assert scene.look(2, after=2) == "running"


def test_the_time_left_is_that_of_the_last_minutes(scene: Scene) -> None:
    scene.write("rows.jsonl")
    scene.look(0, 100)
    assert scene.activity.left(100) is None
    scene.look(10, 100, after=10)
    assert scene.activity.left(100) == pytest.approx(90)
    scene.look(10, 100, after=1_000)  # it stood still
    scene.look(20, 100, after=100)
    assert scene.activity.left(100) == pytest.approx(800)

"""The places of stored replies that a session names."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_llmeval.engine.replies.store import REPLIES, ReplyStore
from pytest_llmeval.errors import UsageError
from pytest_llmeval.session.places import rescored_place, reused_place, with_fixed_places
from pytest_llmeval.session.settings import Settings


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Return the folder of a run with a reply store, which ``latest`` points to."""
    folder = tmp_path / "reports" / "20260301T120000Z-1a2b3c4"
    folder.mkdir(parents=True)
    (folder / "run.json").write_text("{}")
    ReplyStore(folder / REPLIES).close()
    (tmp_path / "reports" / "latest").symlink_to(folder.name)
    return folder


def settings(folder: Path, reuse: str, keep: str | None = None, **more: str) -> Settings:
    reports = str(folder / "reports")
    return Settings(folder=str(folder), report=reports, reuse=reuse, keep=keep, **more)  # type: ignore[arg-type]  # texts


@pytest.mark.parametrize(
    "name", ["latest", "20260301T120000Z-1a2b3c4", "reports/latest", "reports/../reports/latest"]
)
def test_a_run_is_found_by_name_and_by_path(tmp_path: Path, run: Path, name: str) -> None:
    place = reused_place(settings(tmp_path, f"{name},only=on"))
    assert place is not None
    assert (place.path, place.only, place.is_run) == (run, True, True)


def test_a_fixed_place_stays_when_latest_points_elsewhere(tmp_path: Path, run: Path) -> None:
    fixed = with_fixed_places(settings(tmp_path, "latest,max_age=7d,only=on"))
    assert fixed.reuse == f"{run},max_age=7d,only=on"
    latest = run.with_name("latest")
    latest.unlink()
    (run.parent / "other").mkdir()
    latest.symlink_to("other")
    place = reused_place(fixed)
    assert place is not None
    assert (place.path, place.max_age) == (run, 7 * 86_400)


def test_the_place_that_the_run_keeps_its_replies_in_need_not_exist(tmp_path: Path) -> None:
    for name in ("replies", "replies.jsonl"):
        place = reused_place(settings(tmp_path, name, keep=name))
        assert place is not None
        assert place.path == tmp_path / name


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("nowhere", r"--llmeval-reuse nowhere: .*/reports/nowhere: no run here"),
        ("empty", r"--llmeval-reuse empty: .*/empty: no stored replies here"),
        ("none.jsonl", r"--llmeval-reuse none\.jsonl: .*/none\.jsonl: no stored replies here"),
    ],
)
def test_a_place_without_replies_is_refused(tmp_path: Path, name: str, told: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match=told):
        reused_place(settings(tmp_path, name))


def test_a_run_is_not_scored_again_and_continued_at_once(tmp_path: Path, run: Path) -> None:
    assert rescored_place(settings(tmp_path, "latest")) is None
    assert rescored_place(settings(tmp_path, "latest,only=on")) == run
    with pytest.raises(UsageError, match=r"--llmeval-reuse latest,only=on .*--llmeval-resume"):
        rescored_place(settings(tmp_path, "latest,only=on", resume="latest"))

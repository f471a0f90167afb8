"""A run that is looked at: its rows as they come, evidence and pictures on demand."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from report.html_run import PICTURE, call, pictured
from view.viewing import Viewer, conclude, ended, going_on, row, viewed

from pytest_llmeval.records import Message, Row, Transcript


def samples(rows: Any) -> list[str]:
    at = rows["columns"].index("sample")
    return [values[at] for values in rows["rows"]]


def address(folder: Path) -> str:
    return f"/runs/{quote(folder.name)}"


def test_each_row_comes_once_whatever_was_read_before(tmp_path: Path) -> None:
    rows = [row(number) for number in range(6)]
    with going_on(tmp_path, planned=6) as folder, viewed(tmp_path) as viewer:
        since = 0
        told: list[str] = []
        for number, one in enumerate(rows):
            folder.add_row(one)
            if number % 2:
                news = viewer.ask(f"{address(folder.path)}/news?since={since}").json
                since = news["at"]
                told += samples(news["rows"])
                assert news["run"]["done"] == number + 1
        assert told == [one.sample for one in rows]
        assert viewer.ask(f"{address(folder.path)}/news?since={since}").json["rows"] is None
        late = viewer.ask(f"{address(folder.path)}/news?since=0").json
        assert sorted(samples(late["rows"])) == sorted(told)


def test_a_row_that_is_reported_again_comes_again_and_has_the_later_evidence(
    tmp_path: Path,
) -> None:
    with going_on(tmp_path, planned=1) as folder, viewed(tmp_path) as viewer:
        run = address(folder.path)
        for outcome, reply in (("error", "first"), ("correct", "second")):
            one = row(1, outcome, answer=reply)
            folder.add_transcript(
                one.key, Transcript(events=(call(Message.of("user", "Why?"), reply),))
            )
            folder.add_row(one)
            news = viewer.ask(f"{run}/news?since=0").json
            [[place, _]] = news["rows"]["places"]
            evidence = viewer.ask(f"{run}/evidence?row={place}").json
            assert evidence["answer"] == reply
            assert evidence["events"][0]["reply"]["text"] == reply


def test_a_run_that_is_deleted_or_replaced_while_it_is_open_is_told(tmp_path: Path) -> None:
    kept = ended(tmp_path, [row(1)])
    folder = ended(tmp_path, [row(1), row(2)], day=1)
    with viewed(tmp_path) as viewer:
        run = address(folder)
        at = viewer.ask(f"{run}/news?since=0").json["at"]
        shorter = (folder / "rows.jsonl").read_bytes().splitlines(keepends=True)[0]
        (folder / "rows.jsonl").write_bytes(shorter)
        replaced = viewer.ask(f"{run}/news?since={at}")
        assert replaced.status == 409
        assert "replaced" in replaced.json["problem"]
        assert len(viewer.ask(f"{run}/news?since=0").json["rows"]["rows"]) == 1
        shutil.rmtree(folder)
        gone = viewer.ask(f"{run}/news?since={at}")
        assert gone.status == 404
        assert "no such run" in gone.json["problem"]
        assert viewer.ask(f"{run}/").status == 404
        assert viewer.ask(f"{address(kept)}/").status == 200


def test_a_killed_run_shows_the_rows_that_it_has(tmp_path: Path) -> None:
    with going_on(tmp_path, planned=5) as folder:
        folder.add_row(row(1))
        folder.add_row(row(2, "incorrect"))
    with (folder.path / "rows.jsonl").open("ab") as file:
        file.write(b'{"test": "t", "sam')
    with viewed(tmp_path) as viewer:
        news = viewer.ask(f"{address(folder.path)}/news?since=0").json
        assert samples(news["rows"]) == ["1", "2"]
        assert (news["run"]["done"], news["run"]["planned"]) == (2, 5)
        page = viewer.ask(f"{address(folder.path)}/").text
        assert "50.0 %" in page


def test_figures_follow_the_rows_and_are_those_of_the_report(tmp_path: Path) -> None:
    rows = [row(number, "incorrect" if number else "correct") for number in range(4)]
    with going_on(tmp_path, planned=4) as folder, viewed(tmp_path) as viewer:
        run = address(folder.path)
        for one in rows[:2]:
            folder.add_row(one)
        assert "50.0 %" in viewer.ask(f"{run}/").text
        for one in rows[2:]:
            folder.add_row(one)
        conclude(folder, rows)
        overview = viewer.ask(f"{run}/overview")
        assert "25.0 %" in overview.text
        assert "50.0 %" not in overview.text
        again = viewer.ask(f"{run}/overview", If_None_Match=overview.headers["etag"])
        assert (again.status, again.body) == (304, b"")


@pytest.fixture
def pictures(tmp_path: Path) -> Iterator[tuple[Viewer, str, Row]]:
    one, transcript = pictured()
    folder = tmp_path / "reports"
    run = ended(folder, [one], transcripts=[(one, transcript)])
    with viewed(folder) as viewer:
        yield viewer, address(run), one


def test_a_picture_is_given_once_evidence_has_named_it(pictures: tuple[Viewer, str, Row]) -> None:
    viewer, run, _ = pictures
    news = viewer.ask(f"{run}/news?since=0").json
    digest = "0" * 64
    assert viewer.ask(f"{run}/picture?digest={digest}").status == 404
    [digest] = viewer.ask(f"{run}/evidence?row={news['rows']['places'][0][0]}").json["pictures"]
    picture = viewer.ask(f"{run}/picture?digest={digest}")
    assert picture.body == PICTURE.read_bytes()
    assert picture.headers["content-type"] == "image/png"


def test_a_file_that_is_no_picture_is_not_given_whatever_a_transcript_names(
    tmp_path: Path,
) -> None:
    secret = tmp_path / "key.png"
    secret.write_bytes(PICTURE.read_bytes())
    one, transcript = pictured(path=secret)
    reports = tmp_path / "reports"
    run = address(ended(reports, [one], transcripts=[(one, transcript)]))
    secret.write_text("another file by now")
    with viewed(reports) as viewer:
        news = viewer.ask(f"{run}/news?since=0").json
        found = viewer.ask(f"{run}/evidence?row={news['rows']['places'][0][0]}").json["pictures"]
        assert [list(entry) for entry in found.values()] == [["missing"]]
        assert viewer.ask(f"{run}/picture?digest={next(iter(found))}").status == 404


def test_two_viewers_at_once_see_the_same(tmp_path: Path) -> None:
    with (
        going_on(tmp_path, planned=3) as folder,
        viewed(tmp_path) as one,
        viewed(tmp_path) as other,
    ):
        run = address(folder.path)
        for number in range(3):
            folder.add_row(row(number))
            news = [viewer.ask(f"{run}/news?since=0").json["rows"] for viewer in (one, other)]
            assert news[0] == news[1]
            assert len(news[0]["rows"]) == number + 1

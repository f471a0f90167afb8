"""Replies that runs keep in a folder for other runs."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from engine.requests_and_replies import reply, request

from pytest_llmeval.engine.replies import (
    Place,
    ReplyStore,
    StoredReply,
    open_keeper,
    open_source,
    parse_place,
)
from pytest_llmeval.engine.replies.folder import ReplyFolder
from pytest_llmeval.engine.replies.place import KEEP, REUSE
from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Image, Reply, Request

OpenFolder = Callable[..., ReplyFolder]


@pytest.fixture
def folder(tmp_path: Path) -> Place:
    return Place(name="c", path=tmp_path / "new" / "c")


@pytest.fixture
def open_folder(folder: Place) -> Iterator[OpenFolder]:
    """Open the folder as another run would; closed at the end."""
    with ExitStack() as stack:

        def opened(*, endpoint: str = "", **options: Any) -> ReplyFolder:
            endpoints = {request("a").provider: endpoint}
            stack.enter_context(closing(open_keeper(folder, endpoints=endpoints)))
            source = open_source(replace(folder, **options), endpoints=endpoints)
            assert isinstance(source, ReplyFolder)
            return stack.enter_context(closing(source))

        yield opened


def keep(folder: ReplyFolder, asked: Request, answered: Reply, *, endpoint: str = "") -> None:
    folder.keep(StoredReply.of(asked, answered, endpoint=endpoint), live=True)


def test_what_one_run_keeps_another_finds(open_folder: OpenFolder) -> None:
    keep(open_folder(), request("a"), reply("x", created=1e9))
    found = open_folder().find(request("a"))
    assert found is not None
    assert (found.reply.text, found.created, found.reply.created) == ("x", 1e9, 1e9)
    assert open_folder().find(request("b")) is None


def test_only_live_replies_are_kept(open_folder: OpenFolder) -> None:
    open_folder().keep(StoredReply.of(request("a"), reply("x")), live=False)
    assert open_folder().find(request("a")) is None


def test_the_same_request_to_another_endpoint_is_not_found(open_folder: OpenFolder) -> None:
    keep(open_folder(), request("a"), reply("x"), endpoint="http://one")
    assert open_folder(endpoint="http://two").find(request("a")) is None
    assert open_folder(endpoint="http://one").find(request("a")) is not None
    assert open_folder(endpoint="http://two", only=True).find(request("a")) is not None


def test_a_reply_over_the_age_limit_is_not_found(open_folder: OpenFolder) -> None:
    keep(open_folder(), request("a"), reply("x", created=time.time() - 100))
    assert open_folder(max_age=50).find(request("a")) is None
    assert open_folder(max_age=200).find(request("a")) is not None


def test_pictures_outlive_the_run_that_made_them(tmp_path: Path, open_folder: OpenFolder) -> None:
    picture = tmp_path / "run.png"
    picture.write_bytes(b"picture")
    image = Image(digest="ab", media_type="image/png", path=str(picture))
    keep(open_folder(), request("a"), reply("", images=(image,)))
    picture.unlink()
    found = open_folder().find(request("a"))
    assert found is not None
    kept = Path(found.reply.images[0].path)
    assert kept.read_bytes() == b"picture"
    kept.unlink()
    assert open_folder().find(request("a")) is None


def test_a_run_that_was_moved_is_found_with_its_pictures(tmp_path: Path) -> None:
    asked, run = request("a"), tmp_path / "run"
    (run / "images").mkdir(parents=True)
    (run / "images" / "ab.png").write_bytes(b"picture")
    image = Image(digest="ab", media_type="image/png", path=str(run / "images" / "ab.png"))
    with closing(ReplyStore(run / "replies.sqlite3")) as store:
        store.put(asked.key, StoredReply.of(asked, reply("", images=(image,))))
    run.rename(tmp_path / "moved")
    place = Place(name="moved", path=tmp_path / "moved")
    with closing(open_source(place, endpoints={})) as source:
        found = source.find(asked)
    assert found is not None
    assert Path(found.reply.images[0].path).read_bytes() == b"picture"


def test_a_folder_that_cannot_be_made_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    place = Place(name="file/c", path=tmp_path / "file" / "c")
    with pytest.raises(UsageError, match=r"--llmeval-keep file/c: replies cannot be kept here"):
        open_keeper(place, endpoints={})


def test_the_folder_of_a_run_takes_no_other_runs_replies(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("{}")
    with pytest.raises(UsageError, match="this is the folder of a run; name another folder"):
        open_keeper(Place(name="run", path=tmp_path), endpoints={})


def test_a_place_without_replies_is_named_with_what_is_expected(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none: no stored replies here; expected the folder of"):
        open_source(Place(name="none", path=tmp_path / "none"), endpoints={})
    assert list(tmp_path.iterdir()) == []


def test_a_recording_is_found_whichever_model_is_asked_and_by_age(tmp_path: Path) -> None:
    place = parse_place("r.jsonl", tmp_path, option=KEEP)
    with closing(open_keeper(place, endpoints={})) as keeper:
        asked = request("a")
        dated = StoredReply.of(asked, reply("x", created=time.time() - 100), endpoint="http://one")
        keeper.keep(dated, live=False)
    other = Request(provider="azure", model="n", messages=asked.messages)
    found = open_source(place, endpoints={}).find(other)
    assert found is not None
    assert (found.reply.text, found.created) == ("x", dated.created)
    assert "http://one" not in (tmp_path / "r.jsonl").read_text()
    young = parse_place("r.jsonl,max_age=60", tmp_path, option=REUSE)
    assert open_source(young, endpoints={}).find(other) is None


def test_a_line_without_a_date_is_older_than_any_limit(tmp_path: Path) -> None:
    one = StoredReply.of(request("a"), reply("x"))
    line = {name: value for name, value in one.to_json().items() if name != "created"}
    (tmp_path / "r.jsonl").write_text(json.dumps(line) + "\n")
    limited = parse_place("r.jsonl,max_age=9999d", tmp_path, option=REUSE)
    assert open_source(limited, endpoints={}).find(request("a")) is None
    unlimited = replace(limited, max_age=None)
    assert open_source(unlimited, endpoints={}).find(request("a")) is not None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("d", ("d", None, False)),
        ("d,max_age=7d", ("d", 7 * 86_400, False)),
        ("latest,only=on", ("latest", None, True)),
        ("a, b/c.jsonl,only=off,max_age=90", ("a, b/c.jsonl", 90, False)),
    ],
)
def test_a_place_is_a_path_with_settings(
    tmp_path: Path, text: str, expected: tuple[str, float | None, bool]
) -> None:
    place = parse_place(text, tmp_path, option=REUSE)
    assert (place.name, place.max_age, place.only) == expected
    assert place.path == tmp_path / place.name


@pytest.mark.parametrize(
    ("option", "text", "problem"),
    [
        (REUSE, "", r"--llmeval-reuse: '' names no place; expected a folder, a run or FILE\.jsonl"),
        (REUSE, "d,max_age=7w", "max_age: '7w' is not a span of time, such as 90, 30m, 12h or 7d"),
        (REUSE, "d,max_age=0", "max_age: '0' is not a span of time"),
        (REUSE, "d,only=yes", "only is 'yes'; expected on or off"),
        (REUSE, "d,age=7d", "age=7d is not taken; allowed: max_age=AGE and only=on, each once"),
        (REUSE, "d,only=on,only=on", "only=on is not taken"),
        (
            KEEP,
            "d,max_age=7d",
            "--llmeval-keep 'd,max_age=7d': max_age=7d is not taken; allowed: no",
        ),
    ],
)
def test_settings_that_cannot_be_are_refused_with_option_value_and_fix(
    tmp_path: Path, option: str, text: str, problem: str
) -> None:
    with pytest.raises(UsageError, match=problem):
        parse_place(text, tmp_path, option=option)

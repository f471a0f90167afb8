"""The command that looks after stored replies."""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from pytest_llmeval.commands.main import main
from pytest_llmeval.engine.replies import (
    Place,
    ReplyStore,
    StoredReply,
    open_keeper,
    open_source,
    read_recording,
)
from pytest_llmeval.engine.replies.folder import ReplyFolder
from pytest_llmeval.providers.replay import ReplayProvider
from pytest_llmeval.records import Image, Message, Reply, Request

DAY = 86_400
THERE = {"openai": "http://x"}


def asked(prompt: str, model: str = "m") -> Request:
    return Request(provider="openai", model=model, messages=(Message.of("user", prompt),))


def keep(folder: Path, request: Request, reply: Reply, *, endpoint: str = "http://x") -> None:
    with closing(open_keeper(Place(name="cache", path=folder), endpoints=THERE)) as keeper:
        keeper.keep(StoredReply.of(request, reply, endpoint=endpoint), live=True)


def find(folder: Path, request: Request) -> StoredReply | None:
    with closing(ReplyFolder(folder, endpoints=THERE)) as source:
        return source.find(request)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder of replies with an old reply, and a young one that has a picture."""
    picture = tmp_path / "p.png"
    picture.write_bytes(b"picture")
    image = Image(digest="ab", media_type="image/png", path=str(picture))
    old, young = time.time() - 10 * DAY, time.time() - 2 * DAY
    keep(tmp_path / "cache", asked("old"), Reply(text="OLD", created=old))
    keep(tmp_path / "cache", asked("young"), Reply(text="YOUNG", images=(image,), created=young))
    return tmp_path / "cache"


def test_stats_tell_count_and_ages_of_each_model(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replies", "stats", str(folder)]) == 0
    assert capsys.readouterr().out.strip() == "2  openai/m, 2 d to 10 d old"
    recording = tmp_path / "r.jsonl"
    assert main(["replies", "copy", str(folder), str(recording)]) == 0
    capsys.readouterr()
    assert main(["replies", "stats", str(recording)]) == 0
    assert capsys.readouterr().out.strip() == "2  openai/m, 2 d to 10 d old"


def test_prune_deletes_what_is_older_and_pictures_that_nothing_names(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replies", "prune", str(folder), "--older-than", "7d"]) == 0
    assert capsys.readouterr().out == "replies deleted: 1\n"
    assert (folder / "images" / "ab.png").exists()
    assert find(folder, asked("old")) is None
    assert find(folder, asked("young")) is not None
    assert main(["replies", "prune", str(folder), "--older-than", "1d"]) == 0
    assert not (folder / "images" / "ab.png").exists()


def test_a_copy_is_a_recording_that_answers(folder: Path, tmp_path: Path) -> None:
    recording = tmp_path / "r.jsonl"
    assert main(["replies", "copy", str(folder), str(recording)]) == 0
    provider = ReplayProvider(recording)
    assert asyncio.run(provider.send(asked("old"))).text == "OLD"
    young = asyncio.run(provider.send(asked("young", model="whoever")))
    assert Path(young.images[0].path).read_bytes() == b"picture"


def test_a_run_becomes_a_recording_and_that_a_folder_of_replies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://x")
    run, recording, folder = tmp_path / "run", tmp_path / "r.jsonl", tmp_path / "folder"
    run.mkdir()
    request = asked("q")
    routed = replace(request, route=",base_url=http://y/v1", epoch=2, draw=3)
    recorded = replace(request, provider="replay", model="/r.jsonl", epoch=4)
    with closing(ReplyStore(run / "replies.sqlite3")) as store:
        for number, one in enumerate((request, routed, recorded)):
            reply = Reply(text=f"reply {number}", created=1e9 + number)
            store.put(one.key, StoredReply.of(one, reply, endpoint="http://x"))
    live = ["--model", "openai/m", "--model", "openai/m,base_url=http://y/v1"]
    assert main(["replies", "copy", str(run), str(recording), *live]) == 0
    assert main(["replies", "copy", str(recording), str(folder)]) == 0
    for number, one in enumerate((request, routed)):
        found = find(folder, one)
        assert found is not None
        assert (found.reply.text, found.created) == (f"reply {number}", 1e9 + number)
        assert json.loads(recording.read_text().splitlines()[0]).keys() >= {"content", "key"}
    # Recorded replies are no live model's.
    assert main(["replies", "copy", str(run), str(tmp_path / "other")]) == 0
    assert find(tmp_path / "other", recorded) is None
    assert find(tmp_path / "other", request) is not None


def test_two_models_that_answered_the_same_are_copied_one_by_one(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keep(folder, asked("old", model="n"), Reply(text="other"))
    recording = tmp_path / "r.jsonl"
    assert main(["replies", "copy", str(folder), str(recording)]) == 2
    assert "openai/m and openai/n answered the same request" in capsys.readouterr().err
    assert main(["replies", "copy", str(folder), str(recording), "--model", "openai/n"]) == 0
    assert asyncio.run(ReplayProvider(recording).send(asked("old"))).text == "other"


def test_of_one_models_replies_at_two_endpoints_the_newest_is_recorded(
    folder: Path, tmp_path: Path
) -> None:
    keep(folder, asked("old"), Reply(text="newer"), endpoint="http://other")
    assert main(["replies", "copy", str(folder), str(tmp_path / "r.jsonl")]) == 0
    assert {line.reply.text for line in read_recording(tmp_path / "r.jsonl")} == {"newer", "YOUNG"}
    # Between folders each keeps its endpoint.
    assert main(["replies", "copy", str(folder), str(tmp_path / "copy")]) == 0
    found = find(tmp_path / "copy", asked("old"))
    assert found is not None
    assert found.reply.text == "OLD"


def test_a_file_that_exists_is_left_alone(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "r.jsonl").write_text("mine")
    assert main(["replies", "copy", str(folder), str(tmp_path / "r.jsonl")]) == 2
    assert "exists already" in capsys.readouterr().err
    assert (tmp_path / "r.jsonl").read_text() == "mine"


@pytest.mark.parametrize("action", ["stats", "prune", "copy"])
def test_a_folder_without_replies_is_named_and_left_as_it_is(
    tmp_path: Path, action: str, capsys: pytest.CaptureFixture[str]
) -> None:
    more = {"stats": [], "prune": ["--older-than", "1d"], "copy": [str(tmp_path / "r.jsonl")]}
    assert main(["replies", action, str(tmp_path / "none"), *more[action]]) == 2
    assert "none: no stored replies here" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_run_is_not_pruned(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "run.json").write_text("{}")
    assert main(["replies", "prune", str(folder), "--older-than", "1d"]) == 2
    assert "this is the folder of a run; only a folder of replies" in capsys.readouterr().err
    with closing(open_source(Place(name="run", path=folder), endpoints=THERE)) as source:
        assert source.find(asked("old")) is not None


def test_an_age_that_is_none_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replies", "prune", str(folder), "--older-than", "old"]) == 2
    assert "--older-than: 'old' is not a span of time" in capsys.readouterr().err

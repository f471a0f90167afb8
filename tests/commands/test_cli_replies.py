"""The command that looks after the folder of --llmeval-cache."""

from __future__ import annotations

import asyncio
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_llmeval.commands.main import main
from pytest_llmeval.engine.cache import Cache
from pytest_llmeval.engine.replay import ReplayProvider
from pytest_llmeval.records import Image, Message, Reply, Request

DAY = 86_400


def asked(prompt: str, model: str = "m") -> Request:
    return Request(provider="openai", model=model, messages=(Message.of("user", prompt),))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a cache with an old reply, and a young one that has a picture."""
    picture = tmp_path / "p.png"
    picture.write_bytes(b"picture")
    image = Image(digest="ab", media_type="image/png", path=str(picture))
    with closing(Cache(tmp_path / "cache", endpoints={"openai": "http://x"})) as cache:
        cache.put(asked("old"), Reply(text="OLD", created=time.time() - 10 * DAY))
        cache.put(
            asked("young"), Reply(text="YOUNG", images=(image,), created=time.time() - 2 * DAY)
        )
    return tmp_path / "cache"


def test_stats_tell_count_and_ages_of_each_model(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["cache", "stats", str(folder)]) == 0
    assert capsys.readouterr().out.strip() == "2  openai/m, 2 d to 10 d old"


def test_prune_deletes_what_is_older_and_pictures_that_nothing_names(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["cache", "prune", str(folder), "--older-than", "7d"]) == 0
    assert capsys.readouterr().out == "replies deleted: 1\n"
    assert (folder / "images" / "ab.png").exists()
    with closing(Cache(folder, endpoints={"openai": "http://x"})) as cache:
        assert cache.get(asked("old")) is None
        assert cache.get(asked("young")) is not None
    assert main(["cache", "prune", str(folder), "--older-than", "1d"]) == 0
    assert not (folder / "images" / "ab.png").exists()


def test_an_export_is_a_recording_that_answers(folder: Path, tmp_path: Path) -> None:
    recording = tmp_path / "r.jsonl"
    assert main(["cache", "export", str(folder), str(recording)]) == 0
    provider = ReplayProvider(recording)
    assert asyncio.run(provider.send(asked("old"))).text == "OLD"
    young = asyncio.run(provider.send(asked("young", model="whoever")))
    assert Path(young.images[0].path).read_bytes() == b"picture"


def test_two_models_that_answered_the_same_are_exported_one_by_one(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(Cache(folder, endpoints={})) as cache:
        cache.put(replace(asked("old"), model="n"), Reply(text="other"))
    recording = tmp_path / "r.jsonl"
    assert main(["cache", "export", str(folder), str(recording)]) == 2
    assert "openai/m and openai/n answered the same request" in capsys.readouterr().err
    assert main(["cache", "export", str(folder), str(recording), "--model", "openai/n"]) == 0
    assert asyncio.run(ReplayProvider(recording).send(asked("old"))).text == "other"


def test_a_file_that_exists_is_left_alone(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "r.jsonl").write_text("mine")
    assert main(["cache", "export", str(folder), str(tmp_path / "r.jsonl")]) == 2
    assert "exists already" in capsys.readouterr().err
    assert (tmp_path / "r.jsonl").read_text() == "mine"


@pytest.mark.parametrize("action", [["stats"], ["prune"], ["export"]])
def test_a_folder_without_a_cache_is_named_and_left_as_it_is(
    tmp_path: Path, action: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    more = {"stats": [], "prune": ["--older-than", "1d"], "export": [str(tmp_path / "r.jsonl")]}[
        action[0]
    ]
    assert main(["cache", *action, str(tmp_path / "none"), *more]) == 2
    assert "none: no cache here" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_an_age_that_is_none_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cache", "prune", str(folder), "--older-than", "old"]) == 2
    assert "--older-than: 'old' is not a span of time" in capsys.readouterr().err

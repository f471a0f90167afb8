"""The answers that runs leave to one another."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Protocol

import pytest
from requests_and_replies import reply, request

from pytest_llmeval.engine.cache import Cache
from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Image


class OpenCache(Protocol):
    """Opens the same cache with other settings."""

    def __call__(self, *, max_age: float | None = None, endpoint: str = "") -> Cache: ...


@pytest.fixture
def open_cache(tmp_path: Path) -> Iterator[OpenCache]:
    """Open the cache as another run would; closed at the end."""
    with ExitStack() as stack:

        def opened(*, max_age: float | None = None, endpoint: str = "") -> Cache:
            endpoints = {request("a").provider: endpoint}
            return stack.enter_context(
                closing(Cache(tmp_path / "new" / "c", max_age=max_age, endpoints=endpoints))
            )

        yield opened


def test_what_one_run_keeps_another_finds(open_cache: OpenCache) -> None:
    open_cache().put(request("a"), reply("x", created=1e9))
    found = open_cache().get(request("a"))
    assert found is not None
    assert (found.reply.text, found.created, found.reply.created) == ("x", 1e9, 1e9)
    assert open_cache().get(request("b")) is None


def test_the_same_request_to_another_endpoint_is_not_found(open_cache: OpenCache) -> None:
    open_cache(endpoint="http://one").put(request("a"), reply("x"))
    assert open_cache(endpoint="http://two").get(request("a")) is None
    assert open_cache(endpoint="http://one").get(request("a")) is not None


def test_a_reply_over_the_age_limit_is_not_found(open_cache: OpenCache) -> None:
    open_cache().put(request("a"), reply("x", created=time.time() - 100))
    assert open_cache(max_age=50).get(request("a")) is None
    assert open_cache(max_age=200).get(request("a")) is not None


def test_pictures_outlive_the_run_that_made_them(tmp_path: Path, open_cache: OpenCache) -> None:
    picture = tmp_path / "run.png"
    picture.write_bytes(b"picture")
    image = Image(digest="ab", media_type="image/png", path=str(picture))
    open_cache().put(request("a"), reply("", images=(image,)))
    picture.unlink()
    found = open_cache().get(request("a"))
    assert found is not None
    kept = Path(found.reply.images[0].path)
    assert kept.read_bytes() == b"picture"
    kept.unlink()
    assert open_cache().get(request("a")) is None


def test_a_folder_that_cannot_be_made_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"file/c: cannot be used as cache"):
        Cache(tmp_path / "file" / "c", endpoints={})

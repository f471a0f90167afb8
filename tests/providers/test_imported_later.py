"""Importing an SDK keeps the event loop from nothing."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from pytest_llmeval.engine.ports import ProviderSetup, StartingProvider
from pytest_llmeval.engine.specs import parse_spec
from pytest_llmeval.files.images import ImageFolder
from pytest_llmeval.providers.imported_later import ImportedLater, Opening
from pytest_llmeval.providers.opening import open_provider
from pytest_llmeval.records import Message, Reply, Request

SECONDS = 20
HELLO = Request(provider="any", model="m", messages=(Message.of("user", "hello"),))


class Echo:
    """A provider that notes what is done with it."""

    def __init__(self) -> None:
        """Be open, in an event loop."""
        asyncio.get_running_loop()
        self.closed = False

    async def send(self, request: Request) -> Reply:
        return Reply(text=request.messages[0].text)

    async def close(self) -> None:
        self.closed = True


def test_the_loop_goes_on_while_an_sdk_is_imported_once(tmp_path: Path) -> None:
    went_on, loads, opened = threading.Event(), list[bool](), list[Echo]()

    def open_echo(_: ProviderSetup) -> Echo:
        opened.append(Echo())
        return opened[-1]

    def load() -> Opening:
        loads.append(went_on.wait(SECONDS))
        return open_echo

    async def main() -> None:
        setup = ProviderSetup(
            model="m", options={}, timeout=5, image_store=ImageFolder(tmp_path), environ={}
        )
        provider = ImportedLater(load, setup)
        asyncio.get_running_loop().call_later(0, went_on.set)
        replies = await asyncio.gather(
            provider.start(), *(provider.send(HELLO) for _ in range(5)), provider.start()
        )
        assert [one.text for one in replies if one is not None] == ["hello"] * 5
        await provider.close()

    asyncio.run(main())
    assert loads == [True]
    assert [one.closed for one in opened] == [True]


def test_what_was_never_asked_is_closed_without_an_import(tmp_path: Path) -> None:
    def load() -> Opening:
        raise AssertionError

    setup = ProviderSetup(
        model="m", options={}, timeout=5, image_store=ImageFolder(tmp_path), environ={}
    )
    asyncio.run(ImportedLater(load, setup).close())


@pytest.mark.parametrize(
    ("spec", "package"),
    [
        ("anthropic/m,base_url=http://127.0.0.1:9", "anthropic"),
        ("google/m,base_url=http://127.0.0.1:9", "google.genai"),
        ("bedrock/m,region=us-east-1", "aiobotocore"),
    ],
)
def test_heavy_sdks_are_imported_before_the_request(
    spec: str, package: str, tmp_path: Path
) -> None:
    pytest.importorskip(package)
    provider = open_provider(
        parse_spec(spec, folder=tmp_path),
        folder=tmp_path,
        image_store=ImageFolder(tmp_path),
        environ={},
    )
    assert isinstance(provider, ImportedLater)
    assert isinstance(provider, StartingProvider)

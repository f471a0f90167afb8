"""One request to the loopback server, by way of a provider that is opened and closed for it."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval.errors import ProviderError
from pytest_llmeval.records import Image, Message, Request
from pytest_llmeval.records.message import media_type_of

KEY = "sk-test-51f0c2a9e8d7"


class FolderStore:
    """Keeps pictures in a folder."""

    def __init__(self, folder: Path) -> None:
        """Take the folder."""
        self.folder = folder

    def load(self, path: str) -> Image:
        return Image.load(path)

    def save(self, data: bytes) -> Image:
        digest = hashlib.sha256(data).hexdigest()
        media_type = media_type_of(data)
        path = self.folder / digest
        path.write_bytes(data)
        return Image(digest=digest, media_type=media_type, path=str(path))


def question(text: str = "why?", **parameters: Any) -> Request:
    return Request(provider="openai", model="m", messages=(Message.of("user", text),), parameters=parameters)


def failure(ask: Any, request: Request | str = "why?", **options: Any) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        ask(request, **options)
    return caught.value

"""Asking the loopback server one question, and a picture to ask about."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from loopback import KEY, question
from servers.openai_server import png

from pytest_llmeval.engine.specs import parse_spec
from pytest_llmeval.files.images import ImageFolder
from pytest_llmeval.providers.provider import open_provider
from pytest_llmeval.records import Image, Reply, Request
from pytest_llmeval.session.settings import Settings


@pytest.fixture
def ask(model_server: Any, tmp_path: Path) -> Any:
    """Return a function that sends one request to the server and returns the reply."""

    def ask(
        request: Request | str,
        *,
        spec: str = "openai/m",
        url: str = model_server.url,
        **environ: str,
    ) -> Reply:
        async def main() -> Reply:
            provider = open_provider(
                parse_spec(spec, folder=tmp_path),
                Settings(base_url=url, timeout=environ.pop("timeout", 30)),
                image_store=ImageFolder(tmp_path),
                environ={"OPENAI_API_KEY": KEY} | environ,
            )
            try:
                return await provider.send(
                    question(request) if isinstance(request, str) else request
                )
            finally:
                await provider.close()

        return asyncio.run(main())

    return ask


@pytest.fixture
def picture(tmp_path: Path) -> Image:
    (tmp_path / "diagram.png").write_bytes(png())
    return Image.load(tmp_path / "diagram.png")

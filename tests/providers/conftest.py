"""Asking the loopback server one question, and a picture to ask about."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from providers.loopback import KEY, question
from servers.cloud_fixtures import (
    converse_server,
    converse_server_process,
    gemini_server,
    gemini_server_process,
)
from servers.openai_server import png

from pytest_llmeval.engine.specs import parse_spec
from pytest_llmeval.files.images import ImageFolder
from pytest_llmeval.providers.opening import open_provider
from pytest_llmeval.records import Image, Reply, Request

__all__ = [
    "converse_server",
    "converse_server_process",
    "gemini_server",
    "gemini_server_process",
]


@pytest.fixture
def ask(model_server: Any, tmp_path: Path) -> Any:
    """Return a function that sends one request to the server and returns the reply."""

    def ask(
        request: Request | str,
        *,
        spec: str = "openai/m",
        url: str = model_server.url,
        timeout: float = 30,
        **environ: str,
    ) -> Reply:
        async def main() -> Reply:
            provider = open_provider(
                parse_spec(f"{spec},timeout={timeout}", folder=tmp_path),
                folder=tmp_path,
                image_store=ImageFolder(tmp_path),
                environ={"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": url} | environ,
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

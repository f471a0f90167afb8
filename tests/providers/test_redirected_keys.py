"""A server that redirects a request elsewhere hands on no key."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web
from providers.asker import question

from pytest_llmeval.engine.specs import parse_spec
from pytest_llmeval.errors import ProviderError
from pytest_llmeval.files.images import ImageFolder
from pytest_llmeval.providers.opening import open_provider

KEY = "test-51f0c2a9e8d7-of-the-first-server"


@asynccontextmanager
async def served(answer: web.Response, heads: list[Mapping[str, str]]) -> AsyncIterator[str]:
    """Serve one answer to all requests, and gather their headers; the address is yielded."""

    async def handle(request: web.Request) -> web.Response:
        await request.read()
        heads.append(dict(request.headers))
        return web.Response(status=answer.status, headers=answer.headers)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handle)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@pytest.mark.parametrize(
    ("spec", "package", "url_name", "key_name"),
    [
        ("openai/m", "openai", "OPENAI_BASE_URL", "OPENAI_API_KEY"),
        ("azure/m", "openai", "AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_API_KEY"),
        ("anthropic/m", "anthropic", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"),
        ("google/m", "google.genai", "GOOGLE_GEMINI_BASE_URL", "GEMINI_API_KEY"),
    ],
)
def test_a_redirect_takes_no_key_along(
    spec: str, package: str, url_name: str, key_name: str, tmp_path: Path
) -> None:
    pytest.importorskip(package)

    async def main() -> tuple[list[Mapping[str, str]], list[Mapping[str, str]]]:
        first: list[Mapping[str, str]] = []
        second: list[Mapping[str, str]] = []
        async with served(web.Response(status=500), second) as elsewhere:
            away = web.Response(status=307, headers={"Location": f"{elsewhere}/v1"})
            async with served(away, first) as url:
                provider = open_provider(
                    parse_spec(spec, folder=tmp_path),
                    folder=tmp_path,
                    image_store=ImageFolder(tmp_path),
                    environ={url_name: url, key_name: KEY},
                )
                with pytest.raises(ProviderError):
                    await provider.send(question())
                await provider.close()
        return first, second

    first, second = asyncio.run(main())
    assert KEY in str(first)
    assert second
    assert KEY not in str(second)

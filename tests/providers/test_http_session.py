"""Requests over aiohttp, against real servers and a real proxy on loopback."""

from __future__ import annotations

import asyncio
import gzip
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web

from pytest_llmeval.providers.connections import WHOLE
from pytest_llmeval.providers.http_session import HttpSession, Response

PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@asynccontextmanager
async def server(seen: list[web.BaseRequest]) -> AsyncIterator[str]:
    """Serve every address, as a proxy does too; the answer is the request's body, compressed."""

    async def handle(request: web.BaseRequest) -> web.Response:
        seen.append(request)
        body = gzip.compress(await request.content.read(), 1)
        return web.Response(body=body, headers={"Content-Encoding": "gzip"})

    runner = web.ServerRunner(web.Server(handle))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


def posted(
    url: str, monkeypatch: pytest.MonkeyPatch, *, data: bytes = b"{}", **environ: str
) -> tuple[Response, web.BaseRequest]:
    """Return the response to a request, and the request as the server saw it.

    ``SERVER`` in `url` and in the values of `environ` is the server's address.
    """

    async def main() -> tuple[Response, web.BaseRequest]:
        seen: list[web.BaseRequest] = []
        async with server(seen) as address:
            for name, value in environ.items():
                monkeypatch.setenv(name, value.replace("SERVER", address))
            session = HttpSession(30)
            headers = {"Authorization": "Bearer key-1234"}
            response = await session.post(url.replace("SERVER", address), data, headers)
            await session.close()
        return response, seen[0]

    return asyncio.run(main())


@pytest.mark.parametrize("size", [0, WHOLE, WHOLE + 1, 5 * WHOLE])
def test_a_body_arrives_whole_and_comes_back_decompressed(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = bytes(range(256)) * (size // 256 + 1)
    response, request = posted("SERVER/v1", monkeypatch, data=data[:size])
    assert (response.status, response.body) == (200, data[:size])
    assert request.headers["Content-Length"] == str(size)


@pytest.mark.parametrize("name", ["http_proxy", "all_proxy", "ALL_PROXY"])
def test_a_proxy_of_the_environment_is_asked(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _, request = posted("http://model.test/v1/chat", monkeypatch, data=b"", **{name: "SERVER"})
    assert request.raw_path == "http://model.test/v1/chat"


def test_a_host_that_is_excepted_is_asked_directly(monkeypatch: pytest.MonkeyPatch) -> None:
    _, request = posted(
        "SERVER/v1", monkeypatch, http_proxy="http://127.0.0.1:9", no_proxy="127.0.0.1"
    )
    assert request.raw_path == "/v1"


def test_a_proxy_that_cannot_be_used_is_a_failed_call(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(aiohttp.ClientError, match=r"socks5://127\.0\.0\.1:9"):
        posted("SERVER/v1", monkeypatch, http_proxy="socks5://127.0.0.1:9")


def test_keys_for_the_host_in_netrc_neither_replace_ours_nor_stop_the_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login someone password other-key\n")
    _, request = posted("SERVER/v1", monkeypatch, NETRC=str(tmp_path / "netrc"))
    assert request.headers["Authorization"] == "Bearer key-1234"


def test_the_proxy_of_the_first_request_serves_all_requests_of_a_session(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def main() -> list[str]:
        seen: list[web.BaseRequest] = []
        async with server(seen) as address:
            monkeypatch.setenv("http_proxy", address)
            session = HttpSession(30)
            await session.post("http://model.test/v1/chat", b"", {})
            monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
            await session.post("http://model.test/v1/chat", b"", {})
            await session.close()
        return [request.raw_path for request in seen]

    assert asyncio.run(main()) == ["http://model.test/v1/chat"] * 2


def test_a_server_that_says_nothing_is_given_up() -> None:
    async def main() -> None:
        with socket.create_server(("127.0.0.1", 0)) as listening:
            session = HttpSession(0.05)
            with pytest.raises(aiohttp.ServerTimeoutError):
                await session.post(f"http://127.0.0.1:{listening.getsockname()[1]}/v1", b"", {})
            await session.close()

    asyncio.run(main())

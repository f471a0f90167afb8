"""Requests to model servers over aiohttp."""

from __future__ import annotations

import io
import platform
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import lru_cache
from typing import BinaryIO, Final, NamedTuple, TypeAlias
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp

from pytest_llmeval.providers.connections import CONNECT_TIMEOUT, CONNECTIONS, WHOLE

_KEPT: Final = 15.0
"""Seconds after which an unused connection is closed."""


_ADDRESSES: Final = 16
"""Addresses whose proxies are remembered; one model has a few."""

Body: TypeAlias = bytes | aiohttp.FormData | BinaryIO
"""What is sent: a file is sent piece by piece, and closed."""


class Response(NamedTuple):
    """A whole response: status, headers (names in any case), body."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class HttpSession:
    """A session of aiohttp, which is opened in the event loop that sends its first request."""

    def __init__(self, timeout: float, *, proxies: bool = True) -> None:
        """Open nothing yet.

        Args:
            timeout: seconds without any byte of a response after which a request is given up.
            proxies: whether those of the environment are used, as it is at an address's first
                request.
        """
        self._timeout, self._proxies = timeout, proxies
        # Reading the whole environment for each request takes more than sending it.
        self._proxy_of = lru_cache(maxsize=_ADDRESSES)(proxy_of)
        self._session: aiohttp.ClientSession | None = None

    async def post(self, url: str, data: Body, headers: Mapping[str, str]) -> Response:
        """Send a request and return its response, redirects followed.

        Raises:
            aiohttp.ClientError: no whole response came.
        """
        # Bytes are sent in one piece, which would hold up all other requests; a file is not.
        body = io.BytesIO(data) if isinstance(data, bytes) and len(data) > WHOLE else data
        proxy = self._proxy_of(url) if self._proxies else None
        async with self._opened().post(url, data=body, headers=headers, proxy=proxy) as response:
            return Response(response.status, response.headers, await response.read())

    async def get(self, url: str, headers: Mapping[str, str]) -> Response:
        """Ask for a resource and return the response; raises as `post`."""
        async with self.reading(url, headers) as response:
            return Response(response.status, response.headers, await response.read())

    @asynccontextmanager
    async def reading(
        self, url: str, headers: Mapping[str, str]
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Ask for a resource whose body is read piece by piece in the block; raises as `post`."""
        proxy = proxy_of(url) if self._proxies else None
        async with self._opened().get(url, headers=headers, proxy=proxy) as response:
            yield response

    async def close(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            connect = min(self._timeout, CONNECT_TIMEOUT)
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(
                    limit=CONNECTIONS, keepalive_timeout=_KEPT, ssl=_certificates()
                ),
                timeout=aiohttp.ClientTimeout(sock_connect=connect, sock_read=self._timeout),
                cookie_jar=aiohttp.DummyCookieJar(),
                # Its own reading of the environment takes keys from ~/.netrc, and refuses ours.
                trust_env=False,
            )
        return self._session


def proxy_of(url: str) -> str | None:
    """Return the address of the environment's proxy for `url`; None where there is none.

    aiohttp.ClientConnectionError for one that does not speak HTTP.
    """
    parts = urlsplit(url)
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy or proxy_bypass(parts.hostname or ""):
        return None
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    if not proxy.startswith(("http://", "https://")):
        msg = f"the proxy {proxy} does not speak HTTP; name one that does, or except the host"
        raise aiohttp.ClientConnectionError(msg)
    return proxy


def _certificates() -> ssl.SSLContext | bool:
    """Return what certificates are checked by: macOS keeps its own where OpenSSL does not look."""
    if platform.system() != "Darwin":
        return True
    import truststore  # noqa: PLC0415 - needed on macOS only

    return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

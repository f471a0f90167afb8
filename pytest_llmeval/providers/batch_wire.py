"""Calls to batch APIs over HTTP."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Final, TypeAlias

import aiohttp

from pytest_llmeval.providers.bodies import Object, load
from pytest_llmeval.providers.http_session import Body, HttpSession
from pytest_llmeval.providers.openai.client import StatusError, said_in

Headers: TypeAlias = Callable[[], Awaitable[Mapping[str, str]]]
"""Returns the headers by which a request signs in."""

LONGEST_LINE: Final = 64 * 2**20
"""Bytes of a line of results; what is longer is left out, so that its request has no result."""

_PIECE: Final = 2**18
_SUCCESS: Final = range(200, 300)


class BatchWire:
    """Sends requests to a batch API and returns the JSON objects of its responses.

    Raises:
        StatusError: the status is not 2xx.
        aiohttp.ClientError: no whole response came.
        UnreadableReplyError: the body is no JSON object.
    """

    def __init__(
        self,
        url: Callable[[str], str],
        headers: Headers,
        *,
        timeout: float,
        ends: Sequence[Callable[[], Awaitable[None]]] = (),
    ) -> None:
        """Open no connection yet.

        Args:
            url: returns the whole address of a path.
            headers: returns what requests sign in with.
            timeout: seconds without any byte of a response after which a request is given up.
            ends: called when the connections are closed.
        """
        self._url, self._headers, self._ends = url, headers, ends
        self._session = HttpSession(timeout)

    async def get(self, path: str) -> Object:
        """Return a resource."""
        response = await self._session.get(self._url(path), await self._headers())
        if response.status not in _SUCCESS:
            raise StatusError(response.status, response.headers, said_in(response.body), path)
        return load(response.body)

    async def post(self, path: str, data: Body, content_type: str = "") -> Object:
        """Send a body; a form has its own type."""
        types = {"Content-Type": content_type} if content_type else {}
        headers = {**await self._headers(), **types}
        response = await self._session.post(self._url(path), data, headers)
        if response.status not in _SUCCESS:
            raise StatusError(response.status, response.headers, said_in(response.body), path)
        return load(response.body)

    async def post_json(self, path: str, fields: Mapping[str, object]) -> Object:
        """Send a JSON object."""
        return await self.post(path, json.dumps(fields).encode(), "application/json")

    async def lines(self, path: str) -> AsyncIterator[bytes]:
        """Yield the lines of a resource, in bounded memory; longer ones are left out."""
        async with self._session.reading(self._url(path), await self._headers()) as response:
            if response.status not in _SUCCESS:
                said = said_in(await response.read())
                raise StatusError(response.status, response.headers, said, path)
            async for line in lines_in(response.content):
                yield line

    async def close(self) -> None:
        """Close the connections."""
        await self._session.close()
        for end in self._ends:
            await end()


async def lines_in(content: aiohttp.StreamReader) -> AsyncIterator[bytes]:
    """Yield the lines of a body, however it is cut into pieces; see `BatchWire.lines`."""
    rest, is_long = bytearray(), False
    async for piece in content.iter_chunked(_PIECE):
        *ends, last = piece.split(b"\n")
        for end in ends:
            if not is_long:
                yield bytes(rest + end)
            rest, is_long = bytearray(), False
        rest += last
        if len(rest) > LONGEST_LINE:
            rest, is_long = bytearray(), True
    if rest:
        yield bytes(rest)

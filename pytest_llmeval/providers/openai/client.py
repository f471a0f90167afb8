"""What sends requests to a server that speaks OpenAI's protocol."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, Protocol

import aiohttp

from pytest_llmeval.providers.http_session import HttpSession
from pytest_llmeval.providers.services import Endpoint
from pytest_llmeval.records import Json

_JSON: Final = {"Content-Type": "application/json"}
_SUCCESS: Final = range(200, 300)


class Attachment(NamedTuple):
    """A file in a form: the field's name, the file's name, its content and media type."""

    field: str
    name: str
    content: bytes
    media_type: str


class StatusError(Exception):
    """A response with a status other than 2xx.

    Attributes:
        status: the HTTP status.
        headers: of the response; names in any case.
        said: the error in the body: the member ``error`` of a JSON object, or else the whole JSON
            value, or else the text.
        path: of the request, below the endpoint's address.
    """

    def __init__(self, status: int, headers: Mapping[str, str], said: object, path: str) -> None:
        """Take what the response holds."""
        super().__init__(f"HTTP {status} {said}")
        self.status, self.headers, self.said, self.path = status, headers, said, path

    @property
    def code(self) -> object:
        """The error's ``code``; None without one."""
        return self.said.get("code") if isinstance(self.said, dict) else None


class Client(Protocol):
    """Sends requests to one endpoint, each once, and returns the bodies of the responses.

    It raises StatusError, or aiohttp.ClientError when no whole response came.
    """

    async def post(self, path: str, fields: Mapping[str, Json]) -> bytes:
        """Send a JSON object."""
        ...

    async def post_form(
        self, path: str, fields: Mapping[str, Json], files: Sequence[Attachment]
    ) -> bytes:
        """Send a form with files."""
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...


class HttpClient:
    """The `Client` of an endpoint that takes its key as a bearer token."""

    def __init__(self, endpoint: Endpoint, *, timeout: float, proxies: bool = True) -> None:
        """Open no connection yet; for `timeout` and `proxies` see `HttpSession`."""
        self._url = endpoint.base_url.rstrip("/")
        self._headers = {"Accept": "application/json"}
        if endpoint.key:
            self._headers["Authorization"] = f"Bearer {endpoint.key}"
        self._session = HttpSession(timeout, proxies=proxies)

    async def post(self, path: str, fields: Mapping[str, Json]) -> bytes:
        """Send a JSON object."""
        return await self._sent(path, json_body(fields), _JSON)

    async def post_form(
        self, path: str, fields: Mapping[str, Json], files: Sequence[Attachment]
    ) -> bytes:
        """Send a form with files."""
        form = aiohttp.FormData()
        for name, value in fields.items():
            form.add_field(name, value if isinstance(value, str) else json.dumps(value))
        for file in files:
            form.add_field(
                file.field, file.content, filename=file.name, content_type=file.media_type
            )
        return await self._sent(path, form, {})

    async def close(self) -> None:
        """Close the connections."""
        await self._session.close()

    async def _sent(
        self, path: str, data: bytes | aiohttp.FormData, headers: Mapping[str, str]
    ) -> bytes:
        response = await self._session.post(self._url + path, data, {**self._headers, **headers})
        if response.status not in _SUCCESS:
            raise StatusError(response.status, response.headers, said_in(response.body), path)
        return response.body


def json_body(fields: Mapping[str, Json]) -> bytes:
    """Return a JSON object as it is sent."""
    return json.dumps(fields, allow_nan=False, separators=(",", ":")).encode()


def said_in(body: bytes) -> object:
    """Return the error in a body; see `StatusError.said`."""
    text = body.decode("utf-8", "replace").strip()
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value.get("error", value) if isinstance(value, dict) else value

"""Opening clients of Google's SDK."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import httpx2
from google.genai import Client
from google.genai.types import HttpOptions
from openai import DefaultAioHttpClient  # a client over aiohttp, which this package always has

from pytest_llmeval.engine.ports import ProviderSetup
from pytest_llmeval.providers.connections import content
from pytest_llmeval.providers.google.endpoint import VertexProject, google_endpoint, vertex_project
from pytest_llmeval.providers.google.provider import GoogleProvider
from pytest_llmeval.providers.httpx_settings import LIMITS, time_limits
from pytest_llmeval.providers.services import Endpoint

_PLACEHOLDER_KEY: Final = "none"
_KEY_HEADER: Final = "x-goog-api-key"
_VERSION: Final = re.compile(r"(?:/v1\w*)?/*$")
"""The end of an address that the SDK adds by itself."""

if TYPE_CHECKING:
    _AioHttpClient = httpx2.AsyncClient
else:
    _AioHttpClient = DefaultAioHttpClient


def google_provider(setup: ProviderSetup) -> GoogleProvider:
    """Return the provider of a ``google/`` model.

    Raises:
        UsageError: the key or the address is wrong.
    """
    endpoint = google_endpoint(setup.model, setup.options, setup.environ)
    vertex = vertex_project(setup.model, setup.options)
    http = _Connections(endpoint, timeout=setup.timeout)
    client = _client(endpoint, vertex, http)
    return GoogleProvider(client, http, endpoint, image_store=setup.image_store)


def _client(endpoint: Endpoint, vertex: VertexProject | None, http: httpx2.AsyncClient) -> Client:
    # With a client of ours, and without retry options, the SDK sends each request once.
    options = HttpOptions(base_url=_VERSION.sub("", endpoint.base_url), httpx_async_client=http)
    if vertex is None:
        key = endpoint.key or _PLACEHOLDER_KEY
        return Client(vertexai=False, api_key=key, http_options=options)
    return Client(
        vertexai=True, project=vertex.project, location=vertex.location, http_options=options
    )


class _Connections(_AioHttpClient):
    """Connections with time-outs of their own, which send large bodies in pieces.

    The key goes to the endpoint alone: httpx2 takes only `Authorization` out of a request that is
    redirected elsewhere.
    """

    def __init__(self, endpoint: Endpoint, *, timeout: float) -> None:
        """Open no connection yet; `timeout` is that of a request, in seconds."""

        async def keep_key(request: httpx2.Request) -> None:
            """Take the key out of a request to another server; called before each one is sent."""
            url = request.url
            default = 443 if url.scheme == "https" else 80
            if not endpoint.serves(url.host, url.port or default):
                request.headers.pop(_KEY_HEADER, None)

        super().__init__(
            timeout=time_limits(timeout), limits=LIMITS, event_hooks={"request": [keep_key]}
        )

    async def request(self, method: str, url: httpx2.URL | str, **options: Any) -> httpx2.Response:  # noqa: ANN401 - the SDK's
        """Send a request of the SDK, which gives the body whole and no time-out."""
        data = options.pop("content", None) or b""
        headers = {**options.pop("headers", {}), "Content-Length": str(len(data))}
        options.pop("timeout", None)
        return await super().request(method, url, content=content(data), headers=headers, **options)

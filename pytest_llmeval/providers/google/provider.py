"""Models behind Google's Gemini API, at Google AI or Vertex AI, by the SDK."""

from __future__ import annotations

from typing import Final

import httpx2
from google.auth.exceptions import GoogleAuthError
from google.genai import Client
from google.genai.errors import APIError

from pytest_llmeval.engine.ports import ImageStore
from pytest_llmeval.errors import ProviderError
from pytest_llmeval.providers.answering import Failures, answered
from pytest_llmeval.providers.bodies import UnreadableReplyError
from pytest_llmeval.providers.google.errors import is_filtered, provider_error, refuses_schema
from pytest_llmeval.providers.google.replies import read_generated
from pytest_llmeval.providers.google.requests import asked
from pytest_llmeval.providers.schema_fallback import SchemaFallback
from pytest_llmeval.providers.services import Endpoint
from pytest_llmeval.records import Reply, Request

_FAILURES: Final = Failures(
    kinds=(APIError, GoogleAuthError, httpx2.HTTPError),
    is_filtered=is_filtered,
    provider_error=provider_error,
)


class GoogleProvider:
    """One model at one endpoint, to which each request is sent once."""

    def __init__(
        self,
        client: Client,
        http: httpx2.AsyncClient,
        endpoint: Endpoint,
        *,
        image_store: ImageStore,
    ) -> None:
        """Send by a client.

        Args:
            client: the SDK's client; it is closed with the provider.
            http: the connections that it uses; closed with the provider.
            endpoint: where the client sends to.
            image_store: keeps pictures that come in replies.
        """
        self._client, self._http, self._endpoint = client, http, endpoint
        self._image_store = image_store
        self._fallback = SchemaFallback(refuses_schema)

    def __repr__(self) -> str:
        """Return the model and its address."""
        return f"GoogleProvider({self._endpoint.model} at {self._endpoint.base_url})"

    async def send(self, request: Request) -> Reply:
        """Send one request once and return the reply; a filter's refusal is one.

        Raises:
            ProviderError: the call failed, or the request has no counterpart in this API.
        """
        call = self._fallback.send(request, self._generate)
        return await answered(call, self._endpoint, _FAILURES)

    async def close(self) -> None:
        """Close the connections."""
        self._client.close()
        await self._http.aclose()

    async def _generate(self, request: Request) -> Reply:
        try:
            wanted = asked(request)
            response = await self._client.aio.models.generate_content(
                model=request.model, contents=list(wanted.contents), config=wanted.config
            )
        except UnicodeDecodeError as error:
            msg = f"it is no JSON ({error.reason})"
            raise UnreadableReplyError(msg) from None
        except ValueError as error:  # before anything is sent, also the SDK's own checks
            msg = f"{self._endpoint.model}: {error}"
            raise ProviderError(msg, cause="request") from None
        # The raw body keeps fields that the SDK has no classes for, and is read as all others are.
        raw = response.sdk_http_response
        body = raw.body if raw is not None else None
        return read_generated((body or "").encode(), self._image_store)

"""Opening aiobotocore's client of ``bedrock-runtime``, and calling it."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any, Final

from aiobotocore.config import AioConfig
from aiobotocore.session import get_session

from pytest_llmeval.engine.ports import ProviderSetup
from pytest_llmeval.providers.connections import CONNECT_TIMEOUT, CONNECTIONS, WHOLE

_SERVICE: Final = "bedrock-runtime"
_BODY: Final = "LLMEvalBody"


class BedrockClient:
    """Calls Converse, each time once. Credentials are those that botocore finds.

    It is opened by the first call: botocore may ask servers for credentials.
    """

    def __init__(self, setup: ProviderSetup, *, region: str) -> None:
        """Take what the client is opened with."""
        self._options: dict[str, Any] = {
            "region_name": region,
            "endpoint_url": setup.options.get("base_url"),
            "config": AioConfig(
                connect_timeout=min(setup.timeout, CONNECT_TIMEOUT),
                read_timeout=setup.timeout,
                max_pool_connections=CONNECTIONS,
                # The engine retries. The mode is named because AWS_RETRY_MODE may be another.
                retries={"total_max_attempts": 1, "mode": "standard"},
            ),
        }
        self._stack = AsyncExitStack()
        self._opening = asyncio.Lock()
        self._client: Any = None

    async def converse(self, request: Mapping[str, Any]) -> bytes:
        """Send a request once and return the body of the response, as it came.

        Raises:
            ClientError: the service refused the request.
            BotoCoreError: nothing was sent, or no response came.
        """
        client = await self._opened()
        response = await client.converse(**request)
        return bytes(response[_BODY])

    async def close(self) -> None:
        """Close the connections."""
        await self._stack.aclose()

    async def _opened(self) -> Any:  # noqa: ANN401 - made at run time from the service's model
        async with self._opening:
            if self._client is None:
                making = get_session().create_client(_SERVICE, **self._options)
                client = await self._stack.enter_async_context(making)
                events = client.meta.events
                events.register(f"before-parse.{_SERVICE}.Converse", _keep_body)
                events.register(f"before-send.{_SERVICE}.Converse", _in_pieces)
                self._client = client
        return self._client


def _keep_body(
    response_dict: dict[str, Any], customized_response_dict: dict[str, Any], **_: object
) -> None:
    """Take the body past botocore's parser, which loses what it does not know or cannot read."""
    body = response_dict["body"]
    if response_dict["status_code"] < 300:  # noqa: PLR2004 - botocore's bound of errors
        customized_response_dict[_BODY] = body
        response_dict["body"] = b"{}"
    else:
        response_dict["body"] = _error_body(body)


def _error_body(body: bytes) -> bytes:
    """Return the body of an error in a shape on which botocore's parser does not break."""
    text = body.decode("utf-8", "replace")
    try:
        data = json.loads(text)
    except ValueError:
        data = None
    codes = (data.get("__type", ""), data.get("code", "")) if isinstance(data, dict) else (None,)
    sound = all(isinstance(code, str) for code in codes)
    return json.dumps(data if sound else {"message": text}).encode()


def _in_pieces(request: Any, **_: object) -> None:  # noqa: ANN401 - botocore's
    if isinstance(request.body, bytes | bytearray) and len(request.body) > WHOLE:
        request.body = io.BytesIO(request.body)

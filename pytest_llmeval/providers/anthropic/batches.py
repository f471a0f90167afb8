"""Anthropic's Message Batches API, over HTTP."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from typing import BinaryIO, Final

from pytest_llmeval.engine.batches.ports import BatchForm, BatchState, Result, Sending
from pytest_llmeval.engine.ports import ProviderSetup
from pytest_llmeval.errors import ProviderError
from pytest_llmeval.providers.answering import (
    Failures,
    answered,
    check_chat,
    told_failures,
    translated,
)
from pytest_llmeval.providers.anthropic.batch_results import created, requests_in, result_in
from pytest_llmeval.providers.anthropic.replies import read_message
from pytest_llmeval.providers.anthropic.requests import (
    SAMPLING_VERSION,
    SCHEMA_REFUSED,
    VERSION,
    api_version,
    message_body,
)
from pytest_llmeval.providers.anthropic.verdicts import is_filtered_body, other_provider_error
from pytest_llmeval.providers.batch_wire import BatchWire
from pytest_llmeval.providers.bodies import (
    ServedError,
    UnreadableReplyError,
    clean,
    load,
    objects,
)
from pytest_llmeval.providers.endpoints import ANTHROPIC
from pytest_llmeval.providers.http_failures import retry_after
from pytest_llmeval.providers.openai.client import StatusError
from pytest_llmeval.providers.schema_fallback import SchemaFallback
from pytest_llmeval.providers.services import Endpoint
from pytest_llmeval.records import Reply, Request

FORM: Final = BatchForm(
    requests=100_000, size=256_000_000, start=b'{"requests":[', between=b",", end=b"]}"
)

_PATH: Final = "/v1/messages/batches"
_CLOCKS: Final = 300
"""Seconds by which the clocks of both sides may differ."""

_PAGE: Final = 100


def _provider_error(error: Exception, endpoint: Endpoint) -> ProviderError:
    if not isinstance(error, StatusError):
        return other_provider_error(error, endpoint)
    said = error.said if isinstance(error.said, dict) else {}
    words, kind = said.get("message", error.said), said.get("type", "")
    served = ServedError(str(words), error.status, name=str(kind))
    told = other_provider_error(served, endpoint)
    told.retry_after = retry_after(error.headers)
    return told


_FAILURES: Final = Failures(
    kinds=(StatusError,), is_filtered=is_filtered_body, provider_error=_provider_error
)


class AnthropicBatches:
    """The batch API of one model. It takes no mark, so a lost batch is known by its results.

    Requests are sent without marks for the cache of prompts: a batch has no order.
    """

    form = FORM

    def __init__(self, wires: dict[str, BatchWire], endpoint: Endpoint) -> None:
        """Send by a wire for each version of the API, by which requests are grouped.

        Args:
            wires: by the version; they are closed with this.
            endpoint: where the API is, for messages.
        """
        self._wires, self._endpoint = wires, endpoint
        self._wire = next(iter(wires.values()))
        self._fallback = SchemaFallback(_refuses_schema)

    def group(self, request: Request) -> str:
        """Return the version of the API that a request needs."""
        return api_version(request)

    def line(self, request: Request) -> bytes:
        """Return a request as a member of a batch."""
        check_chat(request, self._endpoint)
        body = translated(message_body, self._fallback.settled(request), self._endpoint)
        fields = {"custom_id": request.key, "params": body}
        return json.dumps(fields, allow_nan=False, separators=(",", ":")).encode()

    async def create(self, sending: Sending, file: BinaryIO) -> str:
        """Create the batch."""
        with told_failures(self._endpoint, _FAILURES):
            made = await self._wires[sending.group].post(_PATH, file, "application/json")
            if not (found := clean(made.get("id"))):
                msg = "the batch has no id"
                raise UnreadableReplyError(msg)
        return found

    async def find(self, sending: Sending) -> tuple[str, ...]:
        """Return the batches since then that have as many requests."""
        found: list[str] = []
        after = ""
        with told_failures(self._endpoint, _FAILURES):
            while True:
                page = await self._wire.get(f"{_PATH}?limit={_PAGE}{after}")
                batches = list(objects(page.get("data")))
                for batch in batches:
                    if created(batch) < sending.created - _CLOCKS:
                        return tuple(found)
                    if requests_in(batch) == sending.requests:
                        found.append(clean(batch.get("id")))
                if not batches or not page.get("has_more"):
                    return tuple(found)
                after = f"&after_id={clean(batches[-1].get('id'))}"

    async def state(self, batch: str) -> BatchState:
        """Return the state of a batch."""
        with told_failures(self._endpoint, _FAILURES):
            found = await self._wire.get(f"{_PATH}/{batch}")
            status = found.get("processing_status")
            if not isinstance(status, str):
                msg = "the batch has no status"
                raise UnreadableReplyError(msg)
        cancelled = found.get("cancel_initiated_at") is not None
        return BatchState(ended=status == "ended", cancelled=cancelled)

    async def results(self, batch: str, state: BatchState) -> AsyncIterator[Result]:  # noqa: ARG002
        """Yield the lines of the results."""
        with told_failures(self._endpoint, _FAILURES):
            async for line in self._wire.lines(f"{_PATH}/{batch}/results"):
                if (result := result_in(line)) is not None:
                    yield result

    async def reply(self, line: str, request: Request) -> Reply:
        """Return the reply in a line, read as one that came alone."""
        return await answered(self._read(line, request), self._endpoint, _FAILURES)

    async def cancel(self, batch: str) -> None:
        """Cancel a batch."""
        with told_failures(self._endpoint, _FAILURES):
            await self._wire.post_json(f"{_PATH}/{batch}/cancel", {})

    async def close(self) -> None:
        """Close the connections."""
        for wire in self._wires.values():
            await wire.close()

    async def _read(self, line: str, request: Request) -> Reply:
        result = load(line.encode("utf-8", "replace")).get("result")
        data = result if isinstance(result, dict) else {}
        # An error stands in an envelope of its own, as it would if it came alone.
        body = data.get("message" if data.get("type") == "succeeded" else "error")
        try:
            return read_message(json.dumps(body).encode())
        except ServedError as error:
            if not self._fallback.learned(request, error):
                raise
        problem = f"{self._endpoint.model}: the JSON schema is refused, and left out from now"
        raise ProviderError(problem, reach="attempt", status=400, cause="schema")


def anthropic_batches(setup: ProviderSetup) -> AnthropicBatches:
    """Return the batch API of an ``anthropic/`` model; UsageError for a wrong key or address."""
    endpoint = ANTHROPIC.endpoint(setup.model, setup.options, setup.environ)
    base = endpoint.base_url.rstrip("/").removesuffix("/v1")

    def wire(version: str) -> BatchWire:
        async def headers() -> Mapping[str, str]:
            key = endpoint.key or "none"
            return {"Authorization": f"Bearer {key}", "anthropic-version": version}

        return BatchWire(lambda path: base + path, headers, timeout=setup.timeout)

    wires = {version: wire(version) for version in (VERSION, SAMPLING_VERSION)}
    return AnthropicBatches(wires, endpoint)


def _refuses_schema(error: Exception) -> bool:
    return (
        isinstance(error, ServedError)
        and error.name == "invalid_request_error"
        and SCHEMA_REFUSED.search(str(error)) is not None
    )

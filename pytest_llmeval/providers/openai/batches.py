"""OpenAI's batch API, also as Azure has it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from typing import BinaryIO, Final

import aiohttp

from pytest_llmeval.engine.batches.ports import BatchForm, BatchState, Result, Sending
from pytest_llmeval.engine.ports import ImageStore, ProviderSetup
from pytest_llmeval.errors import ProviderError
from pytest_llmeval.providers.answering import answered, told_failures
from pytest_llmeval.providers.batch_wire import BatchWire
from pytest_llmeval.providers.bodies import Object, UnreadableReplyError, load, objects
from pytest_llmeval.providers.openai.batch_results import errors_of, result_in, told
from pytest_llmeval.providers.openai.client import StatusError
from pytest_llmeval.providers.openai.provider import FAILURES, Api, refuses_schema
from pytest_llmeval.providers.openai.replies import refuse_failure
from pytest_llmeval.providers.schema_fallback import SchemaFallback
from pytest_llmeval.providers.services import Endpoint
from pytest_llmeval.records import Reply, Request

FORM: Final = BatchForm(requests=50_000, size=200_000_000)

MARK: Final = "llmeval"
"""The key of a batch's metadata under which its mark stands."""

_ENDED: Final = frozenset({"completed", "failed", "expired", "cancelled"})
_CROWDED: Final = frozenset({"token_limit_exceeded", "EnqueuedTokenLimitExceeded"})
_PREPARED: Final = frozenset({"pending", "running", "notRunning"})
"""States of an uploaded file that Azure still looks through."""

_LOOKING: Final = 1.0
"""Seconds between two questions whether it has."""

_CLOCKS: Final = 3600
"""Seconds by which the clocks of both sides may differ."""

_PAGE: Final = 100


class OpenAIBatches:
    """The batch API of one model."""

    form = FORM

    def __init__(
        self,
        wire: BatchWire,
        endpoint: Endpoint,
        *,
        api: Api,
        path: str,
        image_store: ImageStore,
    ) -> None:
        """Send by a wire.

        Args:
            wire: sends to the API; it is closed with this.
            endpoint: where that is, for messages.
            api: which API of messages the requests are for.
            path: its path in batches.
            image_store: keeps pictures that come in replies.
        """
        self._wire, self._endpoint, self._api, self._path = wire, endpoint, api, path
        self._images = image_store
        self._fallback = SchemaFallback(refuses_schema)

    def group(self, request: Request) -> str:  # noqa: ARG002 - the port
        """Return "": all requests to a model may be in one batch."""
        return ""

    def line(self, request: Request) -> bytes:
        """Return a line of the file to upload."""
        fields = {
            "custom_id": request.key,
            "method": "POST",
            "url": self._path,
            "body": self._api.body(self._fallback.settled(request)),
        }
        return json.dumps(fields, allow_nan=False, separators=(",", ":")).encode()

    async def create(self, sending: Sending, file: BinaryIO) -> str:
        """Upload the file and create the batch."""
        form = aiohttp.FormData()
        form.add_field("purpose", "batch")
        name, kind = f"{sending.mark}.jsonl", "application/jsonl"
        form.add_field("file", file, filename=name, content_type=kind)
        with told_failures(self._endpoint, FAILURES):
            uploaded = await self._wire.post("/files", form)
            await self._is_prepared(uploaded)
            made = await self._wire.post_json(
                "/batches",
                {
                    "input_file_id": uploaded.get("id"),
                    "endpoint": self._path,
                    "completion_window": "24h",
                    "metadata": {MARK: sending.mark},
                },
            )
            return _id(made)

    async def find(self, sending: Sending) -> tuple[str, ...]:
        """Return the batch with the mark, if there is one."""
        after = ""
        with told_failures(self._endpoint, FAILURES):
            while True:
                page = await self._wire.get(f"/batches?limit={_PAGE}{after}")
                batches = list(objects(page.get("data")))
                for batch in batches:
                    metadata = batch.get("metadata")
                    if isinstance(metadata, dict) and metadata.get(MARK) == sending.mark:
                        return (_id(batch),)
                if not batches or not page.get("has_more") or _is_before(batches[-1], sending):
                    return ()
                after = f"&after={_id(batches[-1])}"

    async def state(self, batch: str) -> BatchState:
        """Return the state of a batch."""
        with told_failures(self._endpoint, FAILURES):
            found = await self._wire.get(f"/batches/{batch}")
            if not isinstance(found.get("status"), str):
                msg = "the batch has no status"
                raise UnreadableReplyError(msg)
        status, failed = found["status"], found["status"] == "failed"
        problems = errors_of(found) if failed else []
        places = (found.get("output_file_id"), found.get("error_file_id"))
        return BatchState(
            ended=status in _ENDED,
            refused=self._endpoint.quote(told(problems)) if failed else "",
            crowded=any(problem.get("code") in _CROWDED for problem in problems),
            cancelled=status == "cancelled",
            places=tuple(place for place in places if isinstance(place, str) and place),
        )

    async def results(self, batch: str, state: BatchState) -> AsyncIterator[Result]:  # noqa: ARG002
        """Yield the lines of the files of replies and of errors."""
        with told_failures(self._endpoint, FAILURES):
            for place in state.places:
                async for line in self._wire.lines(f"/files/{place}/content"):
                    if (result := result_in(line)) is not None:
                        yield result

    async def reply(self, line: str, request: Request) -> Reply:
        """Return the reply in a line, read as one that came alone."""
        return await answered(self._read(line, request), self._endpoint, FAILURES)

    async def cancel(self, batch: str) -> None:
        """Cancel a batch."""
        with told_failures(self._endpoint, FAILURES):
            await self._wire.post_json(f"/batches/{batch}/cancel", {})

    async def close(self) -> None:
        """Close the connections."""
        await self._wire.close()

    async def _is_prepared(self, file: Object) -> None:
        """Wait until an uploaded file can be used."""
        while file.get("status") in _PREPARED:
            await asyncio.sleep(_LOOKING)
            file = await self._wire.get(f"/files/{_id(file)}")

    async def _read(self, line: str, request: Request) -> Reply:
        data = load(line.encode("utf-8", "replace"))
        response = data.get("response")
        if not isinstance(response, dict):
            refuse_failure(data)
            msg = "the line holds no response"
            raise UnreadableReplyError(msg)
        status, body = response.get("status_code"), response.get("body")
        if status == 200:  # noqa: PLR2004 - the only status of a reply
            return self._api.read(json.dumps(body).encode(), self._images)
        said = body.get("error", body) if isinstance(body, dict) else body
        code = status if isinstance(status, int) else 500
        error = StatusError(code, {}, said, self._path)
        if self._fallback.learned(request, error):
            problem = f"{self._endpoint.model}: the JSON schema is refused, and left out from now"
            raise ProviderError(problem, reach="attempt", status=code, cause="schema")
        raise error


def openai_batches(setup: ProviderSetup, endpoint: Endpoint, api: Api) -> OpenAIBatches:
    """Return the batch API of a model at OpenAI, or at a server that speaks its protocol."""
    base = endpoint.base_url.rstrip("/")

    async def headers() -> Mapping[str, str]:
        return {"Authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}

    wire = BatchWire(lambda path: base + path, headers, timeout=setup.timeout)
    return OpenAIBatches(
        wire, endpoint, api=api, path=f"/v1{api.path}", image_store=setup.image_store
    )


def _id(found: Object) -> str:
    name = found.get("id")
    if not isinstance(name, str) or not name:
        msg = "it holds no id"
        raise UnreadableReplyError(msg)
    return name


def _is_before(batch: Object, sending: Sending) -> bool:
    created = batch.get("created_at")
    return isinstance(created, int | float) and created < sending.created - _CLOCKS

"""Messages of the Model Context Protocol, over the pipes of a `ServerProcess`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, TypeAlias

from pytest_llmeval.solvers.mcp.process import ServerProcess

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.shared.message import SessionMessage
    from mcp.types import JSONRPCMessage

    _Pair: TypeAlias = tuple[
        MemoryObjectReceiveStream[SessionMessage | Exception],
        MemoryObjectSendStream[SessionMessage],
    ]


class Transport:
    """A transport of the library `mcp`: two streams of messages, open within an ``async with``."""

    def __init__(self, process: ServerProcess) -> None:
        """Speak with a process."""
        self._streams = _streams(process)

    async def __aenter__(self) -> _Pair:
        """Return what the server says, and what it is told."""
        return await self._streams.__aenter__()

    async def __aexit__(self, *raised: object) -> None:
        """Close both; the process goes on."""
        await self._streams.__aexit__(None, None, None)


@asynccontextmanager
async def _streams(process: ServerProcess) -> AsyncIterator[_Pair]:
    import anyio  # noqa: PLC0415 - as below
    from mcp.shared.message import SessionMessage  # noqa: PLC0415 - of an extra
    from mcp.types import JSONRPCError, JSONRPCResponse  # noqa: PLC0415 - as above

    into, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, out = anyio.create_memory_object_stream[SessionMessage](0)

    async def read() -> None:
        async with into:
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                async for line in process.lines():
                    try:
                        message = _message(line)
                    except (ValueError, RecursionError):
                        process.note(answers=False)
                        continue
                    process.note(answers=isinstance(message, JSONRPCResponse | JSONRPCError))
                    await into.send(SessionMessage(message))

    async def write() -> None:
        async with out:
            async for sent in out:
                text = sent.message.model_dump_json(by_alias=True, exclude_unset=True)
                await process.write(text.encode() + b"\n")

    tasks = [asyncio.ensure_future(read()), asyncio.ensure_future(write())]
    try:
        yield incoming, outgoing
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        for stream in (into, incoming, outgoing, out):
            stream.close()


def _message(line: bytes) -> JSONRPCMessage:
    """Return the message of a line; ValueError or RecursionError if it is none."""
    from mcp.types import jsonrpc_message_adapter  # noqa: PLC0415 - of an extra

    try:
        return jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        # JavaScript writes half of a surrogate pair where it has cut a text, and the library
        # refuses the whole message.
        whole = json.dumps(json.loads(line), ensure_ascii=False).encode("utf-8", "replace")
        return jsonrpc_message_adapter.validate_json(whole, by_name=False)

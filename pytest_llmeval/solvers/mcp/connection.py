"""A conversation with one MCP server: its tools are listed and called."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from pydantic import ValidationError

from pytest_llmeval.engine.tool import CallError
from pytest_llmeval.errors import LLMEvalError, ToolError
from pytest_llmeval.records import Json
from pytest_llmeval.safety.printable import described
from pytest_llmeval.solvers.mcp.process import ServerProcess
from pytest_llmeval.solvers.mcp.server import McpServer

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp import Client
    from mcp.shared.message import SessionMessage
    from mcp.types import CallToolResult, Tool

    _Pair: TypeAlias = tuple[
        MemoryObjectReceiveStream[SessionMessage | Exception],
        MemoryObjectSendStream[SessionMessage],
    ]

_T = TypeVar("_T")

MOST_PAGES: Final = 50
"""Pages of a list of tools."""

_GRACE = 0.5
"""Seconds in which the library ends its session."""


class Connection:
    """A running server and the session with it.

    The session lives in a task of its own: the library's tasks belong to the one that opened them,
    and would cancel a sample's if the server died.
    """

    def __init__(self, server: McpServer, process: ServerProcess) -> None:
        """Take a process that has just started."""
        self._server, self._process = server, process
        self._client: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._session = asyncio.ensure_future(self._live())

    @classmethod
    async def open(cls, server: McpServer) -> Connection:
        """Start a server, and agree with it on the protocol.

        Raises:
            ToolError: it does not start, or does not speak the protocol.
            UsageError: a variable that it is to get is not set.
        """
        connection = cls(server, await ServerProcess.start(server))
        try:
            await connection._answered("was started", asyncio.shield(connection._client))
        except BaseException:
            await connection.close()
            raise
        return connection

    @property
    def alive(self) -> bool:
        """Whether it can be asked."""
        return not (self._process.ended or self._process.problem or self._session.done())

    async def tools(self) -> list[Tool]:
        """Return all tools that it lists; ToolError if it cannot."""
        return await self._answered("listed its tools", self._listed())

    async def call(self, tool: str, arguments: Mapping[str, Json]) -> CallToolResult:
        """Return the result of a call.

        Raises:
            CallError: it answered by an error.
            ToolError: it did not answer.
        """
        from mcp import MCPError  # noqa: PLC0415 - of an extra

        try:
            calling = (await self._client).call_tool(tool, dict(arguments))
            return await self._answered(f"ran {tool}", calling)
        except MCPError as refusal:
            raise CallError(refusal.message) from None

    async def close(self) -> None:
        """End the session and the server, with all that it started."""
        self._session.cancel()
        self._client.cancel()
        try:
            await asyncio.wait([self._session], timeout=_GRACE)
        finally:
            await self._process.close()

    async def _listed(self) -> list[Tool]:
        client, cursor = await self._client, None
        found: list[Tool] = []
        for _ in range(MOST_PAGES):
            page = await client.list_tools(cursor=cursor)
            found += page.tools
            if (cursor := page.next_cursor) is None:
                return found
        msg = f"its list of tools has more than {MOST_PAGES} pages"
        raise ValueError(msg)

    async def _answered(self, doing: str, work: Awaitable[_T]) -> _T:
        """Return what the server answers within its time; what prevents it is a ToolError.

        Raises:
            MCPError: it answered a call by an error.
        """
        from mcp import MCPError  # noqa: PLC0415 - of an extra

        seconds = self._server.options.timeout
        try:
            async with asyncio.timeout(seconds):
                return await work
        except TimeoutError as error:
            problem = f"did not answer within {seconds:g} s; look why, or raise its `timeout`"
            raise await self._failure(doing, self._process.problem or problem) from error
        except LLMEvalError:
            raise
        except MCPError as refusal:
            if self.alive and doing.startswith("ran "):
                raise
            raise await self._failure(doing, self._words(refusal)) from refusal
        except Exception as error:
            raise await self._failure(doing, self._words(error)) from error

    def _words(self, error: Exception) -> str:
        if self._process.problem:
            return self._process.problem
        if self._process.ended:
            return "ended; run the command in that folder to see why"
        told = described(error)
        if isinstance(error, ValidationError):
            first = error.errors(include_url=False)[0]
            told = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        return f"answered otherwise than the protocol asks: {told}; repair it"

    async def _failure(self, doing: str, problem: str) -> ToolError:
        told = await self._process.last_words()
        return ToolError(f"{self._server.told}, while it {doing}, {problem}.{told}")

    async def _live(self) -> None:
        """Keep the session open until it is cancelled or breaks."""
        from mcp import Client  # noqa: PLC0415 - of an extra

        try:
            async with Client(_Streams(self._process), cache=None) as client:
                self._client.set_result(client)
                await asyncio.Event().wait()
        except Exception as error:  # noqa: BLE001 - raised again by who waits for the session
            if not self._client.done():
                self._client.set_exception(_first(error))


class _Streams:
    """The transport of the library, over a `ServerProcess`."""

    def __init__(self, process: ServerProcess) -> None:
        self._streams = _streams(process)

    async def __aenter__(self) -> _Pair:
        return await self._streams.__aenter__()

    async def __aexit__(self, *raised: object) -> None:
        await self._streams.__aexit__(None, None, None)


@asynccontextmanager
async def _streams(process: ServerProcess) -> AsyncIterator[_Pair]:
    import anyio  # noqa: PLC0415 - as below
    from mcp.shared.message import SessionMessage  # noqa: PLC0415 - of an extra
    from mcp.types import JSONRPCError, JSONRPCResponse, jsonrpc_message_adapter  # noqa: PLC0415

    into, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, out = anyio.create_memory_object_stream[SessionMessage](0)

    async def read() -> None:
        async with into:
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                async for line in process.lines():
                    try:
                        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                    except ValueError:
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


def _first(error: Exception) -> Exception:
    """Return the first of a group of errors."""
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error

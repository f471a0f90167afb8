"""The tools of MCP servers for one sample, and what the samples of a run share of them."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Final

from pytest_llmeval.engine.context import RunContext, SolverContext
from pytest_llmeval.engine.tool import CallError
from pytest_llmeval.records import Json, ToolUse
from pytest_llmeval.solvers.mcp.connection import Connection
from pytest_llmeval.solvers.mcp.offer import ListedTool, offered_tools
from pytest_llmeval.solvers.mcp.result_text import result_text
from pytest_llmeval.solvers.mcp.server import McpServer

MOST_SAMPLES: Final = 16
"""Samples at a time that have server processes of their own."""


class RunningServer:
    """What the samples of a run share of a server: its list of tools, and its process if `shared`.

    Attributes:
        tools: the tools that are offered.
    """

    def __init__(
        self, server: McpServer, tools: tuple[ListedTool, ...], connection: Connection
    ) -> None:
        """Take the tools, and the connection by which they were listed: it has seen no sample."""
        self._server, self.tools = server, tools
        self._ready: Connection | None = connection
        self._lock = asyncio.Lock()

    @classmethod
    async def start(cls, server: McpServer) -> RunningServer:
        """Start a server and list its tools; ToolError or UsageError if that fails."""
        connection = await Connection.open(server)
        try:
            return cls(server, offered_tools(server, await connection.tools()), connection)
        except BaseException:
            await connection.close()
            raise

    async def shared_connection(self) -> Connection:
        """Return the connection of all samples; a server that died since is started anew."""
        async with self._lock:
            if self._ready is None or not self._ready.alive:
                if self._ready is not None:
                    await self._ready.close()
                    self._ready = None
                self._ready = await Connection.open(self._server)
            return self._ready

    async def own_connection(self) -> Connection:
        """Return a connection to a process that no sample has used; the caller closes it."""
        ready, self._ready = self._ready, None
        if ready is not None:
            if ready.alive:
                return ready
            await ready.close()
        return await Connection.open(self._server)

    async def close(self) -> None:
        """End the process that is left."""
        if self._ready is not None:
            await self._ready.close()


class SampleServer:
    """A server for one sample; a process of its own starts with the first call."""

    def __init__(self, server: McpServer, running: RunningServer) -> None:
        """Start nothing yet."""
        self.server, self.running = server, running
        self._own: Connection | None = None

    async def connection(self) -> Connection:
        """Return the sample's connection."""
        if self.server.options.shared:
            return await self.running.shared_connection()
        if self._own is None:
            self._own = await self.running.own_connection()
        return self._own

    async def close(self) -> None:
        """End the sample's own process."""
        if self._own is not None:
            await self._own.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class McpTool:
    """A tool of a server, for one sample."""

    name: str
    description: str
    parameters: Mapping[str, Json]
    called: str
    server: SampleServer

    async def __call__(
        self, arguments: Mapping[str, Json], context: SolverContext, *, stage: str
    ) -> ToolUse:
        """Call the server, and record it; its error is told to the model.

        Raises:
            ToolError: the server did not answer.
        """
        started = time.perf_counter()
        output, error = "", None
        try:
            connection = await self.server.connection()
            result = await connection.call(self.called, arguments)
        except CallError as refusal:
            error = str(refusal)
        else:
            output = result_text(result)
            if result.is_error:
                output, error = "", output or "the tool says no more"
        use = ToolUse(
            stage=stage,
            tool=self.name,
            input=json.dumps(arguments, ensure_ascii=False),
            output=output,
            error=error,
            seconds=time.perf_counter() - started,
            engine=self.server.server.name,
        )
        context.record(use)
        return use


async def running(servers: Sequence[McpServer], context: RunContext) -> list[RunningServer]:
    """Return what the run shares of servers, which are started and list their tools once.

    Raises:
        ToolError: a server cannot be used; every sample gets the same error.
    """
    return [
        await context.shared(f"mcp:{server!r}", partial(RunningServer.start, server))
        for server in servers
    ]


@asynccontextmanager
async def sample_tools(
    servers: Sequence[McpServer], context: RunContext
) -> AsyncIterator[tuple[McpTool, ...]]:
    """Yield the tools of servers for one sample, whose processes end with the block.

    At most `MOST_SAMPLES` samples at a time have processes of their own; the others wait here,
    before anything is asked.
    """
    ready = [
        SampleServer(server, run)
        for server, run in zip(servers, await running(servers, context), strict=True)
    ]
    places = await context.shared("mcp:samples", _places)
    own = any(not server.options.shared for server in servers)
    async with places if own else nullcontext():
        try:
            yield tuple(
                McpTool(
                    name=tool.name,
                    description=tool.description,
                    parameters=tool.parameters,
                    called=tool.called,
                    server=one,
                )
                for one in ready
                for tool in one.running.tools
            )
        finally:
            await asyncio.gather(*(one.close() for one in ready))


async def _places() -> asyncio.Semaphore:
    return asyncio.Semaphore(MOST_SAMPLES)

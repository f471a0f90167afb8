"""A graph database that the run starts itself: a server in a child process, reached over Bolt.

A child process, because a JVM inside a Python that is signalled crashes, and because some queries
ignore every time limit and end only with the process. A server that hangs or breaks is replaced and
loaded again.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from contextlib import suppress

from pytest_llmeval.domains.heracles.bolt import (
    NoAnswerError,
    QueryFailedError,
    TimeLimits,
)
from pytest_llmeval.domains.heracles.cpu_clock import CpuClock
from pytest_llmeval.domains.heracles.model_query import run_query
from pytest_llmeval.domains.heracles.query_slots import QuerySlots
from pytest_llmeval.domains.heracles.rows import RowsText
from pytest_llmeval.domains.heracles.scene_graph import SceneGraph
from pytest_llmeval.domains.heracles.server_process import OTHERWISE, ServerKind, ServerProcess
from pytest_llmeval.errors import ToolError
from pytest_llmeval.records import ToolUse

_STARVED_TRIES = 3


class StarvedError(NoAnswerError):
    """No answer in time because the machine gave the server too little CPU time."""


class EmbeddedGraph:
    """A scene on a server of our own, which is restarted when it breaks: a `Graph`."""

    def __init__(
        self,
        kind: ServerKind,
        scene: SceneGraph,
        *,
        progress: Callable[[str], None],
        limits: TimeLimits,
    ) -> None:
        """Take what `start` will start."""
        self._kind, self._scene, self._progress, self._limits = kind, scene, progress, limits
        self._server: ServerProcess | None = None
        self._starting = asyncio.Lock()
        self._slots = QuerySlots()

    @classmethod
    async def start(
        cls,
        kind: ServerKind,
        scene: SceneGraph,
        *,
        progress: Callable[[str], None] = lambda _: None,
        limits: TimeLimits | None = None,
    ) -> EmbeddedGraph:
        """Return the graph with its server running and the scene loaded.

        Args:
            kind: the server.
            scene: what it holds.
            progress: called with a line of text about each step that takes seconds.
            limits: how long queries may take; those of the kind if None.

        Raises:
            ToolError: the server is not installed, does not start, or cannot be loaded.
        """
        graph = cls(kind, scene, progress=progress, limits=limits or kind.limits)
        await graph._running()
        return graph

    async def query(self, cypher: str, *, stage: str = "query") -> ToolUse:
        """Run a model's query read-only; ToolError when no server can be started any more."""
        return await run_query(cypher, stage=stage, engine=self._kind.engine(), ask=self._ask)

    async def close(self) -> None:
        """Stop the server."""
        if self._server is not None:
            await self._server.stop()
            self._server = None

    @property
    def process_id(self) -> int | None:
        """Id of the server's process, None when none runs."""
        return None if self._server is None else self._server.process.pid

    async def _ask(self, cypher: str) -> RowsText:
        """Run a query; one that fails is run again alone, and at last alone on a fresh server.

        A query that exhausts the server makes those beside it fail, or leaves a full memory, so
        only a query that fails alone on a fresh server is known to be at fault. A failure that the
        server reports and survives needs no fresh server.
        """
        with suppress(NoAnswerError):
            async with self._slots.one():
                return await self._attempt(cypher)
        async with self._slots.alone():
            for _ in range(_STARVED_TRIES):
                with suppress(StarvedError):
                    return await self._believed(cypher)
        msg = (
            f"the machine is too busy for {self._kind.title}: {_STARVED_TRIES} times a query that "
            "ran alone got too little CPU time before its time limit; run fewer things beside it, "
            f"or {OTHERWISE}"
        )
        raise ToolError(msg)

    async def _believed(self, cypher: str) -> RowsText:
        """Run a query alone, until it has failed on a server that no other query was sent to."""
        while True:
            server = await self._running()
            untouched = server.asked == 0
            try:
                return await self._attempt(cypher)
            except StarvedError:
                raise
            except NoAnswerError as trouble:
                if server is self._server:
                    raise QueryFailedError(str(trouble)) from trouble
                if untouched:
                    msg = f"the query exhausted the database, which had to be restarted: {trouble}"
                    raise QueryFailedError(msg) from trouble

    async def _attempt(self, cypher: str) -> RowsText:
        """Run a query once, and discard the server when it does not answer any more."""
        server, mark = await self._running(), uuid.uuid4().hex
        clock = CpuClock(server.process.pid)
        try:
            return await server.ask(cypher, mark=mark)
        except NoAnswerError as trouble:
            limit = min(self._limits.server, self._limits.deadline)
            starved = trouble.timed_out and clock.starved(limit)
            ended = trouble.reported or (
                self._kind.ends_queries and await server.reader.end_query(mark)
            )
            if not (ended and await server.lives()):
                await self._discard(server)
            if starved:
                raise StarvedError(str(trouble), timed_out=True) from trouble
            raise

    async def _running(self) -> ServerProcess:
        """Return a server that holds the scene; start one when none runs."""
        async with self._starting:
            if self._server is not None and self._server.process.poll() is not None:
                await self._discard(self._server)
            if self._server is None:
                self._server = await ServerProcess.start(
                    self._kind, self._scene, self._limits, self._progress
                )
            return self._server

    async def _discard(self, server: ServerProcess) -> None:
        """Kill a server, unless another query has discarded it already."""
        if server is self._server:
            self._server = None
            await server.stop(kill=True)

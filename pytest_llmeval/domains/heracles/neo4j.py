"""A graph database server of the user's: Neo4j 5, or another that speaks Bolt as it does."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from contextlib import suppress

from pytest_llmeval.domains.heracles.bolt import (
    Bolt,
    Login,
    NoAnswerError,
    QueryFailedError,
    TimeLimits,
)
from pytest_llmeval.domains.heracles.model_query import Engine, run_query
from pytest_llmeval.domains.heracles.query_slots import QuerySlots
from pytest_llmeval.domains.heracles.readers import Readers
from pytest_llmeval.domains.heracles.rows import RowsText
from pytest_llmeval.domains.heracles.scene_graph import SceneGraph
from pytest_llmeval.domains.heracles.scene_loading import load_scene
from pytest_llmeval.domains.heracles.warm_up import WARM_UP
from pytest_llmeval.errors import ToolError, UsageError
from pytest_llmeval.records import ToolUse

LIMITS = TimeLimits(server=10.0, deadline=20.0)
"""How long queries may take on any Neo4j. The server's own limit can come late inside one
expression (12 to 40 s measured), hence the deadline."""

_ADVICE = (
    "a query that fills its memory ends a server's work for all; give it "
    "db.memory.transaction.max=64m, db.transaction.timeout=10s and -XX:+ExitOnOutOfMemoryError "
    "(docs/heracles.md), and restart it"
)


class Neo4jGraph:
    """A loaded database on a server: a `Graph`."""

    def __init__(self, bolt: Bolt, readers: Readers, *, agent: str, uri: str) -> None:
        """Take the connections to a database that holds the scene.

        Args:
            bolt: the connection for statements of our own.
            readers: the processes that run a model's queries.
            agent: name and version of the server, for the records.
            uri: its address, for messages.
        """
        self._bolt, self._readers, self._agent, self._uri = bolt, readers, agent, uri
        self._slots = QuerySlots()

    @classmethod
    async def open(
        cls,
        login: Login,
        scene: SceneGraph | None,
        *,
        reset: bool,
        progress: Callable[[str], None],
        limits: TimeLimits = LIMITS,
    ) -> Neo4jGraph:
        """Return the database with the scene in it, warmed up; with None as it is.

        Raises:
            ToolError: the server cannot be reached, or the scene cannot be loaded.
            UsageError: there is no scene to load, but what is there is to be wiped.
        """
        if scene is None and reset:
            msg = (
                f"{login.uri},reset=on would wipe the graph that the task asks about: it names no "
                f"scene to load; write {login.uri}"
            )
            raise UsageError(msg)
        bolt, readers = Bolt(login, limits), Readers(login, limits)
        try:
            agent = await bolt.agent()
            if scene is not None:
                await load_scene(bolt, scene, where=login.uri, reset=reset, progress=progress)
            for cypher in WARM_UP:
                with suppress(NoAnswerError, QueryFailedError):
                    await readers.ask(cypher)
        except BaseException:
            await readers.close()
            await bolt.close()
            raise
        return cls(bolt, readers, agent=agent, uri=login.uri)

    async def query(self, cypher: str, *, stage: str = "query") -> ToolUse:
        """Run a model's query read-only; ToolError when the database fails."""
        engine = Engine(name="neo4j", agent=self._agent)
        return await run_query(cypher, stage=stage, engine=engine, ask=self._ask)

    async def close(self) -> None:
        """Disconnect."""
        await self._readers.close()
        await self._bolt.close()

    async def _ask(self, cypher: str) -> RowsText:
        """Run a query; one that gets no answer is run again alone, and then known to be at fault.

        The server may have been busy with the others, or with what they left behind.
        """
        with suppress(NoAnswerError):
            async with self._slots.one():
                return await self._attempt(cypher)
        async with self._slots.alone():
            await self._check_alive()
            try:
                return await self._attempt(cypher)
            except NoAnswerError as trouble:
                await self._check_alive(trouble)
                raise QueryFailedError(str(trouble)) from trouble

    async def _attempt(self, cypher: str) -> RowsText:
        """Run a query once; when it gets no answer, end it on the server too."""
        mark = uuid.uuid4().hex
        try:
            return await self._readers.ask(cypher, mark=mark)
        except NoAnswerError as trouble:
            if not trouble.reported:
                await self._bolt.end_query(mark)
            raise

    async def _check_alive(self, trouble: NoAnswerError | None = None) -> None:
        try:
            await self._bolt.ask("RETURN 1")
        except (NoAnswerError, QueryFailedError) as error:
            sign = f" (first sign: {trouble})" if trouble else ""
            msg = (
                f"the graph database at {self._uri} does not answer any more: {error}{sign}; "
                f"{_ADVICE}"
            )
            raise ToolError(msg) from error

"""A graph database server of the user's: Neo4j 5, or another that speaks Bolt as it does."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pytest_llmeval.domains.heracles.bolt import (
    Bolt,
    Login,
    NoAnswerError,
    QueryFailedError,
    TimeLimits,
    run_query,
)
from pytest_llmeval.domains.heracles.rows import RowsText
from pytest_llmeval.domains.heracles.scene_graph import SceneGraph
from pytest_llmeval.domains.heracles.scene_loading import load_scene
from pytest_llmeval.errors import ToolError
from pytest_llmeval.records import ToolUse

LIMITS = TimeLimits(server=10.0, deadline=20.0)
"""The server's own limit can come late inside one expression (12 to 40 s measured), hence the
deadline."""


class Neo4jGraph:
    """A loaded database on a server: a `Graph`."""

    def __init__(self, bolt: Bolt, *, engine: str, uri: str) -> None:
        """Take a connection to a database that holds the scene.

        Args:
            bolt: the connection.
            engine: name and version of the server, for the records.
            uri: its address, for messages.
        """
        self._bolt, self._engine, self._uri = bolt, engine, uri

    @classmethod
    async def open(
        cls,
        login: Login,
        scene: SceneGraph,
        *,
        reset: bool,
        progress: Callable[[str], None],
        limits: TimeLimits = LIMITS,
    ) -> Neo4jGraph:
        """Return the database with the scene in it.

        Raises:
            ToolError: the server cannot be reached, or the scene cannot be loaded.
        """
        bolt = Bolt(login, limits)
        try:
            engine = await bolt.agent()
            await load_scene(bolt, scene, where=login.uri, reset=reset, progress=progress)
        except BaseException:
            await bolt.close()
            raise
        return cls(bolt, engine=engine, uri=login.uri)

    async def query(self, cypher: str, *, stage: str = "query") -> ToolUse:
        """Run a model's query read-only; ToolError when the database fails."""
        return await run_query(cypher, stage=stage, engine=self._engine, ask=self._ask)

    async def close(self) -> None:
        """Disconnect."""
        await self._bolt.close()

    async def _ask(
        self, cypher: str, columns: Sequence[str] = (), *, again: bool = True
    ) -> RowsText:
        """Run a query, once more after a broken connection.

        A query that fails twice while the database answers other queries counts as failed.
        """
        try:
            return await self._bolt.ask(cypher, columns)
        except NoAnswerError as trouble:
            await self._check_alive(trouble)
            if trouble.timed_out or not again:
                raise QueryFailedError(str(trouble)) from trouble
        return await self._ask(cypher, columns, again=False)

    async def _check_alive(self, trouble: NoAnswerError) -> None:
        try:
            await self._bolt.ask("RETURN 1")
        except (NoAnswerError, QueryFailedError) as error:
            msg = (
                f"the graph database at {self._uri} does not answer any more: {error} "
                f"(first sign: {trouble})"
            )
            raise ToolError(msg) from trouble

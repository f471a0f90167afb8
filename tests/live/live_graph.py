"""A loaded graph, asked from plain test functions."""

from __future__ import annotations

import asyncio
from typing import Any

import neo4j

from pytest_llmeval.domains.heracles.bolt import NoAnswerError, QueryFailedError
from pytest_llmeval.domains.heracles.embedded import EmbeddedGraph
from pytest_llmeval.domains.heracles.scene_graph import SceneGraph
from pytest_llmeval.domains.heracles.scene_loading import _holds, _sizes
from pytest_llmeval.records import ToolUse


class LiveGraph:
    """A loaded graph, asked from plain test functions."""

    def __init__(self, runner: asyncio.Runner, graph: EmbeddedGraph) -> None:
        """Run everything by `runner`, the loop that the graph was opened in."""
        self.runner, self.graph = runner, graph

    @property
    def is_neo4j(self) -> bool:
        return self.graph._kind.engine().name == "neo4j"

    def query(self, cypher: str) -> ToolUse:
        """Ask as a model's query is asked."""
        return self.runner.run(self.graph.query(cypher))

    def rows(self, cypher: str, **parameters: Any) -> list[list[Any]]:
        """Return the driver's values; same login and access as `query`, no preflight or limits."""
        return self.runner.run(self._rows(cypher, parameters))

    def ask(self, cypher: str) -> str | None:
        """Ask past the preflight, within the limits; return what went wrong."""
        try:
            self.runner.run(self.graph._attempt(cypher))
        except (QueryFailedError, NoAnswerError) as error:
            return str(error)
        return None

    def kind(self, cypher: str) -> str:
        """Return what Neo4j takes a query for: r, w, rw or s; "" if it refuses it."""
        return self.runner.run(self._kind(cypher))

    def holds(self, scene: SceneGraph) -> bool:
        """Return whether the database holds the scene, to the last digit, and nothing else."""
        return self.runner.run(self._holds(scene))

    async def _kind(self, cypher: str) -> str:
        bolt = (await self.graph._running()).reader
        try:
            async with bolt.session(access=neo4j.READ_ACCESS) as session:
                result = await session.run(f"EXPLAIN {cypher}", p=1, grant=1)
                return (await result.consume()).query_type or ""
        except neo4j.exceptions.ClientError:
            return ""

    async def _holds(self, scene: SceneGraph) -> bool:
        bolt = (await self.graph._running()).reader
        async with bolt.session(access=neo4j.READ_ACCESS) as session:
            same_size = await _sizes(session) == (len(scene.nodes), len(scene.relationships))
            return same_size and await _holds(session, scene)

    async def _rows(self, cypher: str, parameters: dict[str, Any]) -> list[list[Any]]:
        bolt = (await self.graph._running()).reader
        async with bolt.session(access=neo4j.READ_ACCESS) as session:
            return [record.values() async for record in await session.run(cypher, parameters)]

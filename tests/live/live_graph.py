"""A loaded graph, asked from plain test functions."""

from __future__ import annotations

import asyncio
from typing import Any

import neo4j

from pytest_llmeval.adapters.arcadedb import EmbeddedGraph
from pytest_llmeval.adapters.bolt import Bolt
from pytest_llmeval.adapters.neo4j import Neo4jGraph
from pytest_llmeval.records import GraphQuery

COUNTS = "MATCH (n) OPTIONAL MATCH (n)-[r]->() RETURN count(DISTINCT n), count(r), sum(size(keys(n)))"


class LiveGraph:
    """A loaded graph, asked from plain test functions."""

    def __init__(self, runner: asyncio.Runner, graph: EmbeddedGraph | Neo4jGraph) -> None:
        """Run everything by `runner`, the loop that the graph was opened in."""
        self.runner, self.graph = runner, graph

    @property
    def is_embedded(self) -> bool:
        return isinstance(self.graph, EmbeddedGraph)

    def query(self, cypher: str) -> GraphQuery:
        """Ask as a model's query is asked."""
        return self.runner.run(self.graph.query(cypher))

    def rows(self, cypher: str, **parameters: Any) -> list[list[Any]]:
        """Ask past preflight and limits, with the same login and access, and return the driver's own values."""
        return self.runner.run(self._rows(cypher, parameters))

    def counts(self) -> list[Any]:
        """Return how many nodes, relationships and property keys there are."""
        return self.rows(COUNTS)[0]

    async def _rows(self, cypher: str, parameters: dict[str, Any]) -> list[list[Any]]:
        async with self._bolt.session(access=neo4j.READ_ACCESS) as session:
            return [record.values() async for record in await session.run(cypher, parameters)]

    @property
    def _bolt(self) -> Bolt:
        if isinstance(self.graph, Neo4jGraph):
            return self.graph._bolt
        assert self.graph._server is not None
        return self.graph._server.reader

"""The graph that a server holds, read whole by queries that only read."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Final

import neo4j
from neo4j import exceptions as driver_errors
from neo4j.spatial import Point

from pytest_llmeval.domains.heracles.bolt import Bolt
from pytest_llmeval.domains.heracles.questions.property_graph import (
    Edge,
    Position,
    PropertyGraph,
    Vertex,
)
from pytest_llmeval.errors import ToolError

MOST_RECORDS: Final = 500_000
"""Most nodes and relationships together; they are held in memory, about 1 KB each."""

_NODES: Final = "MATCH (n) RETURN elementId(n), labels(n), properties(n)"
_RELATIONSHIPS: Final = "MATCH (a)-[r]->(b) RETURN type(r), elementId(a), elementId(b)"
_SIZE: Final = ("MATCH (n) RETURN count(n)", "MATCH ()-[r]->() RETURN count(r)")

_CARTESIAN: Final = frozenset({7203, 9157})
_GEOGRAPHIC: Final = frozenset({4326, 4979})
"""Codes of coordinate systems of points (SRID), in two and three dimensions."""


async def read_server(bolt: Bolt, *, where: str) -> PropertyGraph:
    """Return the graph.

    Args:
        bolt: the connection.
        where: the server's name in messages.

    Raises:
        ToolError: the server cannot be read, or holds more than `MOST_RECORDS`.
    """
    try:
        async with bolt.session(access=neo4j.READ_ACCESS) as session:
            size = 0
            for counting in _SIZE:
                async for (number,) in _rows(session, counting):
                    size += number
            if size > MOST_RECORDS:
                msg = (
                    f"{where} holds {size:,} nodes and relationships; at most {MOST_RECORDS:,} are "
                    "read; name a database that holds a part of them (LLMEVAL_NEO4J_DATABASE)"
                )
                raise ToolError(msg)
            nodes = [row async for row in _rows(session, _NODES)]
            edges = [row async for row in _rows(session, _RELATIONSHIPS)]
    except (driver_errors.Neo4jError, driver_errors.DriverError, OSError) as error:
        msg = f"the graph at {where} cannot be read: {error}"
        raise ToolError(msg) from error
    return _graph(nodes, edges)


async def _rows(session: neo4j.AsyncSession, query: str) -> AsyncIterator[list[Any]]:
    async for record in await session.run(query):
        yield record.values()


def _graph(nodes: list[list[Any]], edges: list[list[Any]]) -> PropertyGraph:
    """Return the graph of the rows; the order of nodes does not depend on the server's ids."""

    def content(row: list[Any]) -> tuple[list[str], str]:
        return sorted(row[1]), repr(sorted(row[2].items()))

    ordered = sorted(nodes, key=content)
    numbers = {row[0]: number for number, row in enumerate(ordered)}
    vertices = (
        Vertex(
            numbers[identity],
            tuple(sorted(labels)),
            {key: _plain(value) for key, value in sorted(properties.items())},
        )
        for identity, labels, properties in ordered
    )
    # What was added between the two queries is in none of them.
    linked = sorted(
        (type_, numbers[source], numbers[target])
        for type_, source, target in edges
        if source in numbers and target in numbers
    )
    return PropertyGraph(vertices, (Edge(*edge) for edge in linked))


def _plain(value: object) -> object:
    if isinstance(value, Point) and value.srid in _CARTESIAN | _GEOGRAPHIC:
        return Position(tuple(value), geographic=value.srid in _GEOGRAPHIC)
    return value

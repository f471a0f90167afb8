"""Put a scene graph into a database, or find that it is there already."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any, cast

import neo4j
from neo4j import exceptions as driver_errors
from neo4j.spatial import Point

from pytest_llmeval.adapters.bolt import Bolt
from pytest_llmeval.cypher.scene_graph import Node, Relationship, SceneGraph
from pytest_llmeval.errors import GraphError

_BATCH = 1_000
"""Nodes or relationships sent in one statement."""

_WIPE = "MATCH (n) CALL { WITH n DETACH DELETE n } IN TRANSACTIONS OF 10000 ROWS"


async def load_scene(
    bolt: Bolt, scene: SceneGraph, *, where: str, reset: bool, progress: Callable[[str], None]
) -> None:
    """Make the database hold exactly `scene`.

    Nothing is done when it does already. A database that holds anything else is wiped with `reset` and refused with a
    GraphError without; `where` names it there.
    """
    try:
        async with bolt.session() as session:
            held = await _sizes(session)
            if held == _size(scene) and await _holds(session, scene):
                return
            if any(held) and not reset:
                msg = (
                    f"{where} holds {held[0]} nodes and {held[1]} relationships that are not this scene; name an empty "
                    "database, or let it be wiped with --llmeval-graph-reset"
                )
                raise GraphError(msg)
            if any(held):
                progress(f"graph: wiping {held[0]} nodes from {where}")
                await (await session.run(_WIPE)).consume()
            progress(f"graph: loading {len(scene.nodes)} nodes, {len(scene.relationships)} relationships into {where}")
            await _fill(session, scene)
            if await _sizes(session) != _size(scene) or not await _holds(session, scene):
                msg = f"{where} does not hold what was loaded into it; is another run loading at the same time?"
                raise GraphError(msg)
    except (driver_errors.Neo4jError, driver_errors.DriverError, OSError) as error:
        msg = f"loading the scene into {where} failed: {error}"
        raise GraphError(msg) from error


def _size(scene: SceneGraph) -> tuple[int, int]:
    return len(scene.nodes), len(scene.relationships)


async def _sizes(session: neo4j.AsyncSession) -> tuple[int, int]:
    counts = []
    for query in ("MATCH (n) RETURN count(n)", "MATCH ()-[r]->() RETURN count(r)"):
        (row,) = await _rows(session, query)
        counts.append(row[0])
    return counts[0], counts[1]


async def _holds(session: neo4j.AsyncSession, scene: SceneGraph) -> bool:
    """Return whether the database, known to be of the same size, holds the scene to the last digit."""
    nodes = await _rows(session, "MATCH (n) RETURN labels(n), properties(n)")
    edges = await _rows(session, "MATCH (a)-[r]->(b) RETURN type(r), a.nodeSymbol, b.nodeSymbol, labels(a), labels(b)")
    try:
        return _read_back(nodes, edges).fingerprint == scene.fingerprint
    except (KeyError, TypeError, ValueError):
        return False  # values that no scene has


def _read_back(nodes: Sequence[Any], edges: Sequence[Any]) -> SceneGraph:
    return SceneGraph(
        nodes=tuple(
            Node(
                label=label,
                symbol=properties["nodeSymbol"],
                properties={
                    key: cast("Any", tuple(value)) if isinstance(value, Point) else value
                    for key, value in properties.items()
                },
            )
            for (label,), properties in nodes
        ),
        relationships=tuple(
            Relationship(type=kind, source=source, target=target, source_label=above, target_label=below)
            for kind, source, target, (above,), (below,) in edges
        ),
    )


async def _fill(session: neo4j.AsyncSession, scene: SceneGraph) -> None:
    """Create indexes, then all nodes and relationships in one transaction, so that a broken load leaves nothing."""
    for label in dict.fromkeys(node.label for node in scene.nodes):
        await (await session.run(f"CREATE INDEX IF NOT EXISTS FOR (n:{label}) ON (n.nodeSymbol)")).consume()
    async with await session.begin_transaction() as transaction:
        for statement, rows in [*_node_statements(scene), *_relationship_statements(scene)]:
            for start in range(0, len(rows), _BATCH):
                await (await transaction.run(statement, rows=rows[start : start + _BATCH])).consume()
        await transaction.commit()


def _node_statements(scene: SceneGraph) -> list[tuple[str, list[Any]]]:
    """Return one statement and its rows for each label and set of properties."""

    def kind(node: Node) -> tuple[str, list[tuple[str, bool]]]:
        return node.label, [(key, isinstance(value, tuple)) for key, value in node.properties.items()]

    statements = []
    for (label, properties), nodes in groupby(sorted(scene.nodes, key=kind), key=kind):
        values = ", ".join(
            f"{key}: point({{x: row.{key}[0], y: row.{key}[1], z: row.{key}[2]}})" if is_point else f"{key}: row.{key}"
            for key, is_point in properties
        )
        rows = [
            {key: list(value) if isinstance(value, tuple) else value for key, value in node.properties.items()}
            for node in nodes
        ]
        statements.append((f"UNWIND $rows AS row CREATE (:{label} {{{values}}})", rows))
    return statements


def _relationship_statements(scene: SceneGraph) -> list[tuple[str, list[Any]]]:
    """Return one statement and its rows for each type and pair of labels."""

    def kind(edge: Relationship) -> tuple[str, str, str]:
        return edge.type, edge.source_label, edge.target_label

    statements = []
    for (type_, above, below), edges in groupby(sorted(scene.relationships, key=kind), key=kind):
        ends = f"(a:{above} {{nodeSymbol: row[0]}}), (b:{below} {{nodeSymbol: row[1]}})"
        rows = [[edge.source, edge.target] for edge in edges]
        statements.append((f"UNWIND $rows AS row MATCH {ends} CREATE (a)-[:{type_}]->(b)", rows))
    return statements


async def _rows(session: neo4j.AsyncSession, query: str) -> list[list[Any]]:
    return [record.values() async for record in await session.run(query)]

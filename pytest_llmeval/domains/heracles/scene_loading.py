"""Load a scene graph into a database, unless it holds the scene already."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from itertools import groupby
from typing import Any, TypeAlias, TypeVar, cast

import neo4j
from neo4j import exceptions as driver_errors
from neo4j.spatial import Point

from pytest_llmeval.domains.heracles.bolt import Bolt
from pytest_llmeval.domains.heracles.scene_graph import Node, Relationship, SceneGraph
from pytest_llmeval.errors import ToolError

_BATCH = 2_000
"""Most nodes or relationships that one statement writes or reads."""

_NOTE_EVERY = 100_000
"""Nodes and relationships between two progress notes of a load."""

_WIPE = "MATCH (n) CALL { WITH n DETACH DELETE n } IN TRANSACTIONS OF 10000 ROWS"
_MARK = "CREATE (:LlmevalLoading)"
_MARKED = "MATCH (mark:LlmevalLoading) RETURN count(mark)"
_UNMARK = "MATCH (mark:LlmevalLoading) DELETE mark"

_Rows: TypeAlias = list[list[Any]]
_Row = TypeVar("_Row")


async def load_scene(
    bolt: Bolt, scene: SceneGraph, *, where: str, reset: bool, progress: Callable[[str], None]
) -> None:
    """Load `scene` into a database that outlives the run, unless it holds the scene already.

    A load is many transactions, since a single one would have to fit into the server's memory. A
    node marks the database until the last one, so that the rest of a broken load can be deleted.

    Args:
        bolt: the connection.
        scene: what the database is to hold, and nothing else.
        where: name of the database in messages.
        reset: whether other content may be deleted.
        progress: called with a line of text about each long step.

    Raises:
        ToolError: the load failed, or there is other content and no `reset`.
    """
    async with _as_tool_error(where), bolt.session() as session:
        held = await _sizes(session)
        if held == _size(scene) and await _holds(session, scene):
            return
        if any(held):
            await _make_room(session, held, where=where, reset=reset, progress=progress)
        await _run(session, _MARK)
        await _fill(session, scene, where=where, progress=progress)
        nodes, relationships = await _sizes(session)
        if (nodes - 1, relationships) != _size(scene) or not await _holds(session, scene):
            msg = (
                f"{where} does not hold what was loaded into it; "
                "is another run loading at the same time?"
            )
            raise ToolError(msg)
        await _run(session, _UNMARK)


async def fill_database(
    bolt: Bolt, scene: SceneGraph, *, where: str, progress: Callable[[str], None]
) -> None:
    """Load `scene` into an empty database that this process alone uses.

    Arguments and errors are those of `load_scene`.
    """
    async with _as_tool_error(where), bolt.session() as session:
        await _fill(session, scene, where=where, progress=progress)
        if (held := await _sizes(session)) != _size(scene):
            msg = (
                f"{where} holds {held[0]} nodes and {held[1]} relationships after loading, "
                f"not {_size(scene)}"
            )
            raise ToolError(msg)


@asynccontextmanager
async def _as_tool_error(where: str) -> AsyncIterator[None]:
    try:
        yield
    except (driver_errors.Neo4jError, driver_errors.DriverError, OSError) as error:
        msg = f"loading the scene into {where} failed: {error}"
        raise ToolError(msg) from error


async def _make_room(
    session: neo4j.AsyncSession,
    held: tuple[int, int],
    *,
    where: str,
    reset: bool,
    progress: Callable[[str], None],
) -> None:
    """Delete the content of the database if that is allowed, or if a broken load left it.

    Raises:
        ToolError: it is neither.
    """
    ((marks,),) = await _rows(session, _MARKED)
    if not (reset or marks):
        msg = (
            f"{where} holds {held[0]} nodes and {held[1]} relationships that are not this scene; "
            f"name an empty database, or let it be wiped with --llmeval-graph {where},reset=on"
        )
        raise ToolError(msg)
    progress(f"graph: wiping {held[0]} nodes{' of a broken load' if marks else ''} from {where}")
    await _run(session, _WIPE)


def _size(scene: SceneGraph) -> tuple[int, int]:
    return len(scene.nodes), len(scene.relationships)


async def _sizes(session: neo4j.AsyncSession) -> tuple[int, int]:
    ((nodes,),) = await _rows(session, "MATCH (n) RETURN count(n)")
    ((relationships,),) = await _rows(session, "MATCH ()-[r]->() RETURN count(r)")
    return nodes, relationships


async def _holds(session: neo4j.AsyncSession, scene: SceneGraph) -> bool:
    """Return whether the database holds all nodes and relationships of the scene, digit by digit.

    What it holds besides shows in its size (`_sizes`). It is read in many statements, each of which
    stays below any time limit.
    """
    nodes: _Rows = []
    edges: _Rows = []
    for label, symbols in _symbols_by_label(scene).items():
        found = f"UNWIND $rows AS symbol MATCH (n:{label} {{nodeSymbol: symbol}})"
        for batch in _batches(symbols):
            nodes += await _rows(session, f"{found} RETURN labels(n), properties(n)", rows=batch)
            edges += await _rows(
                session,
                f"{found}-[r]->(m) RETURN type(r), symbol, labels(n), m.nodeSymbol, labels(m)",
                rows=batch,
            )
    try:
        return _read_back(nodes, edges).fingerprint == scene.fingerprint
    except (KeyError, TypeError, ValueError):
        return False  # values that a scene cannot have


def _symbols_by_label(scene: SceneGraph) -> dict[str, list[str]]:
    symbols: dict[str, list[str]] = {}
    for node in scene.nodes:
        symbols.setdefault(node.label, []).append(node.symbol)
    return symbols


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
            Relationship(
                type=kind, source=source, target=target, source_label=above, target_label=below
            )
            for kind, source, (above,), target, (below,) in edges
        ),
    )


async def _fill(
    session: neo4j.AsyncSession, scene: SceneGraph, *, where: str, progress: Callable[[str], None]
) -> None:
    """Create indexes, then all nodes and relationships."""
    nodes, relationships = _size(scene)
    progress(f"graph: loading {nodes} nodes, {relationships} relationships into {where}")
    for label in _symbols_by_label(scene):
        await _run(session, f"CREATE INDEX IF NOT EXISTS FOR (n:{label}) ON (n.nodeSymbol)")
    loaded, total = 0, nodes + relationships
    for statement, rows in [*_node_statements(scene), *_relationship_statements(scene)]:
        for batch in _batches(rows):
            await _run(session, statement, rows=batch)
            before, loaded = loaded, loaded + len(batch)
            if loaded // _NOTE_EVERY > before // _NOTE_EVERY:
                progress(f"graph: {loaded} of {total} loaded")


def _node_statements(scene: SceneGraph) -> list[tuple[str, list[Any]]]:
    """Return one statement and its rows for each label and set of properties."""

    def kind(node: Node) -> tuple[str, list[tuple[str, bool]]]:
        return node.label, [
            (key, isinstance(value, tuple)) for key, value in node.properties.items()
        ]

    statements = []
    for (label, properties), nodes in groupby(sorted(scene.nodes, key=kind), key=kind):
        values = ", ".join(
            f"{key}: point({{x: row.{key}[0], y: row.{key}[1], z: row.{key}[2]}})"
            if is_point
            else f"{key}: row.{key}"
            for key, is_point in properties
        )
        rows = [
            {
                key: list(value) if isinstance(value, tuple) else value
                for key, value in node.properties.items()
            }
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


def _batches(rows: list[_Row]) -> Iterator[list[_Row]]:
    return (rows[start : start + _BATCH] for start in range(0, len(rows), _BATCH))


async def _rows(session: neo4j.AsyncSession, query: str, **parameters: object) -> _Rows:
    return [record.values() async for record in await session.run(query, parameters)]


async def _run(session: neo4j.AsyncSession, statement: str, **parameters: object) -> None:
    await (await session.run(statement, parameters)).consume()

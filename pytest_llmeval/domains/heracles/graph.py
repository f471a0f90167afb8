"""The graph database that holds a scene: a server of our own, or of the user's."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from pytest_llmeval.domains.heracles.address import (
    NO_GRAPH,
    GraphAddress,
    GraphChoice,
    OwnServer,
)
from pytest_llmeval.domains.heracles.arcadedb_process import ArcadeDB
from pytest_llmeval.domains.heracles.bolt import Login
from pytest_llmeval.domains.heracles.embedded import EmbeddedGraph
from pytest_llmeval.domains.heracles.neo4j import Neo4jGraph
from pytest_llmeval.domains.heracles.neo4j_jars.installed import missing
from pytest_llmeval.domains.heracles.neo4j_process import Neo4j
from pytest_llmeval.domains.heracles.scene_graph import read_scene
from pytest_llmeval.domains.heracles.server_process import ServerKind
from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import ToolUse

_PREFIXES = ("LLMEVAL_NEO4J", "HERACLES_NEO4J")
"""Prefixes of the variables that hold username, password and database.

The second is what the Heracles project uses.
"""


class Graph(Protocol):
    """A loaded graph database that answers a model's read-only queries."""

    async def query(self, cypher: str, *, stage: str = "query") -> ToolUse:
        """Run one query; what is wrong with the query is in the record's `error`.

        Raises:
            ToolError: the database failed.
        """
        ...

    async def close(self) -> None:
        """Disconnect, and stop the server if this run started it."""
        ...


async def open_graph(
    choice: GraphChoice,
    scene: Path | None,
    *,
    progress: Callable[[str], None] = lambda _: None,
) -> Graph:
    """Return a database that holds the scene of a spark_dsg JSON file, ready for queries.

    A server's database must be empty or hold this scene already, unless `choice` allows that it
    is wiped. Its user, password and database come from the variables ``LLMEVAL_NEO4J_USERNAME``,
    ``_PASSWORD`` and ``_DATABASE`` (or ``HERACLES_NEO4J_...``).

    Args:
        choice: the database; None starts a Neo4j where one is installed, else ArcadeDB.
        scene: the scene's file; None for what a server holds already, which is left as it is.
        progress: called with a line of text about each step that takes seconds.

    Raises:
        ToolError: the database could not be started, reached or loaded.
        TaskError: the scene could not be read.
        UsageError: there is neither a server nor a scene, or a server's own graph is to be wiped.
    """
    graph = None if scene is None else await asyncio.to_thread(read_scene, scene)
    if isinstance(choice, GraphAddress):
        login = login_to(choice)
        return await Neo4jGraph.open(login, graph, reset=choice.reset, progress=progress)
    if graph is None:
        raise UsageError(NO_GRAPH)
    kind = own_server(choice, progress=progress)
    return await EmbeddedGraph.start(kind, graph, progress=progress)


def own_server(
    choice: OwnServer | None, *, progress: Callable[[str], None] = lambda _: None
) -> ServerKind:
    """Return the kind of server that a run starts itself, which need not be installed.

    Args:
        choice: the kind; None is Neo4j where it is installed, else ArcadeDB.
        progress: called with a line of text when ArcadeDB takes the place of Neo4j.
    """
    if choice == "neo4j":
        return Neo4j()
    if choice is None:
        if (problem := missing()) is None:
            return Neo4j()
        progress(
            f"graph: ArcadeDB answers instead of Neo4j, and not always as Neo4j does: {problem}"
        )
    return ArcadeDB()


def login_to(address: GraphAddress) -> Login:
    """Return the login to a server, with what the variables hold."""
    username, password, database = (
        _variable(name) for name in ("USERNAME", "PASSWORD", "DATABASE")
    )
    return Login(
        uri=address.uri,
        username=username or "neo4j",
        password=password or "",
        database=database,
    )


def _variable(name: str) -> str | None:
    return next(
        (value for prefix in _PREFIXES if (value := os.environ.get(f"{prefix}_{name}"))), None
    )

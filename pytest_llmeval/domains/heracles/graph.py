"""The graph of a task: embedded by default, or a server that is named."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

from pytest_llmeval.domains.heracles.arcadedb import EmbeddedGraph
from pytest_llmeval.domains.heracles.bolt import Login
from pytest_llmeval.domains.heracles.neo4j import Neo4jGraph
from pytest_llmeval.domains.heracles.scene_graph import read_scene
from pytest_llmeval.engine.ports import Graph
from pytest_llmeval.errors import UsageError

_SCHEMES = ("bolt://", "bolt+s://", "bolt+ssc://", "neo4j://", "neo4j+s://", "neo4j+ssc://")
_PREFIXES = ("LLMEVAL_NEO4J", "HERACLES_NEO4J")
"""Of the variables that hold username, password and database; the second is what the Heracles
project uses."""


async def open_graph(
    uri: str | None,
    scene: Path,
    *,
    reset: bool = False,
    progress: Callable[[str], None] = lambda _: None,
) -> Graph:
    """Return a database that holds the scene of a spark_dsg JSON file, ready for queries.

    `uri` None starts an embedded ArcadeDB; ``bolt://`` and ``neo4j://`` reach a server, with user,
    password and database from ``LLMEVAL_NEO4J_USERNAME``, ``_PASSWORD``, ``_DATABASE`` (or
    ``HERACLES_NEO4J_...``). A server's database must be empty or hold this scene already, unless
    `reset` lets it be wiped. `progress` hears what takes time. GraphError when the database cannot
    be had, TaskError when the scene cannot be read.
    """
    graph = await asyncio.to_thread(read_scene, scene)
    if uri is None:
        return await EmbeddedGraph.start(graph, progress=progress)
    if not uri.startswith(_SCHEMES):
        msg = f"--llmeval-graph {uri!r} is no graph database; expected one of {', '.join(_SCHEMES)}"
        raise UsageError(msg)
    username, password, database = (
        _variable(name) for name in ("USERNAME", "PASSWORD", "DATABASE")
    )
    login = Login(uri=uri, username=username or "neo4j", password=password or "", database=database)
    return await Neo4jGraph.open(login, graph, reset=reset, progress=progress)


def _variable(name: str) -> str | None:
    return next(
        (value for prefix in _PREFIXES if (value := os.environ.get(f"{prefix}_{name}"))), None
    )

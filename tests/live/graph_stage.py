"""One database server on which a module's tests stage one graph after the other."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pytest_llmeval.domains.heracles import arcadedb_process
from pytest_llmeval.domains.heracles.arcadedb import LIMITS, EmbeddedGraph
from pytest_llmeval.domains.heracles.bolt import Bolt, Login
from pytest_llmeval.domains.heracles.neo4j import Neo4jGraph
from pytest_llmeval.domains.heracles.scene_graph import Node, SceneGraph
from pytest_llmeval.domains.heracles.scene_loading import fill_database

_SOMETHING = SceneGraph(
    nodes=(Node(label="Room", symbol="R0", properties={"nodeSymbol": "R0"}),), relationships=()
)


class GraphStage:
    """A server and two logins: one that may write, and the one that models have.

    `graph` answers queries as in a run, from whatever is on the stage.
    """

    def __init__(self, runner: asyncio.Runner) -> None:
        """Start the embedded server; `close` ends it."""
        self._runner = runner
        logins: list[Login] = []

        async def fill(bolt: Bolt, scene: SceneGraph, **rest: Any) -> None:
            logins.append(bolt._login)
            await fill_database(bolt, scene, **rest)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(arcadedb_process, "fill_database", fill)
            self._server = runner.run(EmbeddedGraph.start(_SOMETHING))
        assert self._server._server is not None
        self.writer, self.reader = logins[0], self._server._server.reader._login
        opening = Neo4jGraph.open(self.reader, None, reset=False, progress=lambda _: None)
        self.graph = runner.run(opening)

    def stage(self, scene: SceneGraph) -> None:
        """Make the database hold these nodes and relationships, and nothing else.

        Labels and types may be any that Cypher can write, in backquotes where it needs them.
        """
        self._runner.run(self._stage(scene))

    def close(self) -> None:
        self._runner.run(self.graph.close())
        self._runner.run(self._server.close())

    async def _stage(self, scene: SceneGraph) -> None:
        bolt = Bolt(self.writer, LIMITS)
        async with bolt.session() as session:
            await (await session.run("MATCH (n) DETACH DELETE n")).consume()
        await fill_database(bolt, scene, where="the stage", progress=lambda _: None)
        await bolt.close()

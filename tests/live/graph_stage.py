"""A database server on which a module's tests stage one graph after the other."""

from __future__ import annotations

import asyncio

from pytest_llmeval.domains.heracles.bolt import Bolt, Login
from pytest_llmeval.domains.heracles.neo4j import LIMITS, Neo4jGraph
from pytest_llmeval.domains.heracles.scene_graph import SceneGraph
from pytest_llmeval.domains.heracles.scene_loading import fill_database


class GraphStage:
    """A server of which everything may be deleted.

    `graph` answers queries as in a run, from whatever is on the stage.
    """

    def __init__(self, runner: asyncio.Runner, login: Login) -> None:
        """Connect; `close` disconnects."""
        self._runner, self.login = runner, login
        opening = Neo4jGraph.open(login, None, reset=False, progress=lambda _: None)
        self.graph = runner.run(opening)

    def stage(self, scene: SceneGraph) -> None:
        """Make the database hold these nodes and relationships, and nothing else.

        Labels and types may be any that Cypher can write, in backquotes where it needs them.
        """
        self._runner.run(self._stage(scene))

    def close(self) -> None:
        """Disconnect."""
        self._runner.run(self.graph.close())

    async def _stage(self, scene: SceneGraph) -> None:
        bolt = Bolt(self.login, LIMITS)
        async with bolt.session() as session:
            await (await session.run("MATCH (n) DETACH DELETE n")).consume()
        await fill_database(bolt, scene, where="the stage", progress=lambda _: None)
        await bolt.close()

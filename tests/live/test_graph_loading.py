"""Loading: once, whole, and never over somebody else's data. On a server of one's own."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from pytest_llmeval.domains.heracles import scene_loading
from pytest_llmeval.domains.heracles.address import GraphAddress
from pytest_llmeval.domains.heracles.bolt import Bolt, Login
from pytest_llmeval.domains.heracles.graph import open_graph
from pytest_llmeval.domains.heracles.neo4j import LIMITS, Neo4jGraph
from pytest_llmeval.domains.heracles.scene_loading import _relationship_statements
from pytest_llmeval.errors import ToolError

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_llmeval.domains.heracles.scene_graph import SceneGraph


@pytest.fixture
def emptied(runner: asyncio.Runner, neo4j_login: Login) -> Login:
    """Return the login to a database without nodes."""
    run(runner, neo4j_login, "MATCH (n) DETACH DELETE n")
    return neo4j_login


def run(runner: asyncio.Runner, login: Login, statement: str) -> None:
    async def execute() -> None:
        bolt = Bolt(login, LIMITS)
        async with bolt.session() as session:
            await (await session.run(statement)).consume()
        await bolt.close()

    runner.run(execute())


def load(
    runner: asyncio.Runner, login: Login, scene: SceneGraph, *, reset: bool = False
) -> list[str]:
    """Load the scene and return what was told meanwhile."""
    told: list[str] = []

    async def open_and_close() -> None:
        graph = await Neo4jGraph.open(login, scene, reset=reset, progress=told.append)
        await graph.close()

    runner.run(open_and_close())
    return told


def test_a_scene_that_is_there_is_not_loaded_again(
    runner: asyncio.Runner, emptied: Login, scene: SceneGraph
) -> None:
    assert len(load(runner, emptied, scene)) == 1
    assert load(runner, emptied, scene) == []


def test_a_single_changed_value_is_noticed(
    runner: asyncio.Runner, emptied: Login, scene: SceneGraph
) -> None:
    load(runner, emptied, scene)
    run(runner, emptied, "MATCH (o:Object {nodeSymbol: 'O20'}) SET o.class = 'chair'")
    with pytest.raises(ToolError, match="not this scene"):
        load(runner, emptied, scene)


def test_foreign_data_is_refused_and_kept(
    runner: asyncio.Runner, emptied: Login, scene: SceneGraph
) -> None:
    run(runner, emptied, "CREATE (:Invoice {number: 1})-[:OF]->(:Customer)")
    with pytest.raises(
        ToolError,
        match=r"holds 2 nodes and 1 relationships .* --llmeval-graph bolt://.*,reset=on",
    ):
        load(runner, emptied, scene)
    with pytest.raises(ToolError, match="holds 2 nodes"):
        load(runner, emptied, scene)


def test_foreign_data_is_wiped_where_that_is_allowed(
    runner: asyncio.Runner, emptied: Login, scene: SceneGraph
) -> None:
    run(runner, emptied, "UNWIND range(1, 25000) AS i CREATE (:Invoice {number: i})")
    told = load(runner, emptied, scene, reset=True)
    assert "wiping 25000 nodes" in told[0]
    assert load(runner, emptied, scene) == []


def test_login_and_database_come_from_the_environment(
    runner: asyncio.Runner, emptied: Login, house: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HERACLES_NEO4J_USERNAME", emptied.username)
    monkeypatch.setenv("HERACLES_NEO4J_PASSWORD", "overruled by the next line")
    monkeypatch.setenv("LLMEVAL_NEO4J_PASSWORD", emptied.password)

    async def ask() -> str:
        graph = await open_graph(GraphAddress(uri=emptied.uri), house)
        result = await graph.query("MATCH (r:Room) RETURN count(r) AS n")
        await graph.close()
        return result.output

    assert runner.run(ask()) == "n\n9\n(1 row)"


def test_a_wrong_password_is_told_as_such(
    runner: asyncio.Runner, neo4j_login: Login, house: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LLMEVAL_NEO4J_PASSWORD", "wrong")
    with pytest.raises(ToolError, match="refuses the user 'neo4j'"):
        runner.run(open_graph(GraphAddress(uri=neo4j_login.uri), house))


def test_a_server_that_is_not_there_is_named(runner: asyncio.Runner, house: Path) -> None:
    with pytest.raises(ToolError, match=r"no graph database answers at bolt://127\.0\.0\.1:1"):
        runner.run(open_graph(GraphAddress(uri="bolt://127.0.0.1:1"), house))


def test_what_a_broken_load_left_is_wiped_and_loaded_again(
    runner: asyncio.Runner, emptied: Login, scene: SceneGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose_relationships(scene: SceneGraph) -> list[tuple[str, list[Any]]]:
        return [*_relationship_statements(scene)[:1], ("RETURN no_such_thing", [None])]

    with monkeypatch.context() as patch:
        patch.setattr(scene_loading, "_relationship_statements", lose_relationships)
        with pytest.raises(ToolError, match=r"loading the scene into bolt://.* failed"):
            load(runner, emptied, scene)
    told = load(runner, emptied, scene)
    assert told[0].startswith("graph: wiping 260 nodes of a broken load from bolt://")
    assert load(runner, emptied, scene) == []


def test_two_statements_worth_of_nodes_are_loaded_and_read_back(
    runner: asyncio.Runner, emptied: Login, scene: SceneGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scene_loading, "_BATCH", 50)
    monkeypatch.setattr(scene_loading, "_NOTE_EVERY", 500)
    told = load(runner, emptied, scene)
    assert [line.partition(" of ")[2] for line in told[1:]] == ["916 loaded"]
    assert load(runner, emptied, scene) == []

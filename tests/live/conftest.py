"""Real graph databases: the Neo4j and the ArcadeDB that a run starts itself."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from live.live_graph import LiveGraph
from live.own_servers import KINDS, installed

from pytest_llmeval.domains.heracles.bolt import Login, TimeLimits
from pytest_llmeval.domains.heracles.embedded import EmbeddedGraph
from pytest_llmeval.domains.heracles.scene_graph import SceneGraph, read_scene
from pytest_llmeval.domains.heracles.server_process import ServerKind, ServerProcess

HOUSE = Path(__file__).parents[2] / "fixtures" / "heracles" / "scene.json"


@pytest.fixture(scope="session")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="session")
def house() -> Path:
    """Return the file of the house's scene."""
    return HOUSE


@pytest.fixture(scope="module")
def scene() -> SceneGraph:
    """Return what the module's tests ask about: the house, unless the module says otherwise."""
    return read_scene(HOUSE)


@pytest.fixture(scope="module")
def limits() -> TimeLimits | None:
    """Return how long queries may take; None is what the engine has."""
    return None


@pytest.fixture(scope="module", params=sorted(KINDS))
def kind(request: pytest.FixtureRequest) -> ServerKind:
    """Return each server that a run starts itself."""
    return installed(request.param)


@pytest.fixture(scope="session")
def graphs(runner: asyncio.Runner) -> Iterator[dict[object, EmbeddedGraph]]:
    """Return the databases of the session, so that modules that ask the same share one."""
    found: dict[object, EmbeddedGraph] = {}
    yield found
    for graph in found.values():
        runner.run(graph.close())


@pytest.fixture(scope="module")
def live(
    kind: ServerKind,
    runner: asyncio.Runner,
    graphs: dict[object, EmbeddedGraph],
    scene: SceneGraph,
    limits: TimeLimits | None,
) -> LiveGraph:
    """Return the scene on each engine."""
    wanted = (kind.title, scene.fingerprint, limits)
    if wanted not in graphs:
        graphs[wanted] = runner.run(EmbeddedGraph.start(kind, scene, limits=limits))
    return LiveGraph(runner, graphs[wanted])


@pytest.fixture(scope="session")
def server(runner: asyncio.Runner) -> Iterator[ServerProcess]:
    """Return an empty Neo4j, as a user may run one."""
    kind, nothing = installed("neo4j"), SceneGraph(nodes=(), relationships=())
    server = runner.run(ServerProcess.start(kind, nothing, kind.limits, print, sealed=False))
    yield server
    runner.run(server.stop(kill=True))


@pytest.fixture(scope="session")
def neo4j_login(server: ServerProcess) -> Login:
    """Return the login to that server."""
    return server.reader._login

"""Real graph databases: the embedded ArcadeDB, and a Neo4j started from its jars."""

from __future__ import annotations

import asyncio
import importlib.util
import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from live.live_graph import LiveGraph
from live.neo4j_pool import Neo4jPool
from live.neo4j_process import Unavailable

from pytest_llmeval.domains.heracles.arcadedb import LIMITS, EmbeddedGraph
from pytest_llmeval.domains.heracles.bolt import Login, TimeLimits
from pytest_llmeval.domains.heracles.neo4j import Neo4jGraph
from pytest_llmeval.domains.heracles.scene_graph import SceneGraph, read_scene

HOUSE = Path(__file__).parents[2] / "fixtures" / "heracles" / "scene.json"


@pytest.fixture(scope="session")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="session")
def neo4j_pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Neo4jPool]:
    """Return the Neo4j servers of the session, those that other workers started among them."""
    folder = tmp_path_factory.getbasetemp()
    pool = Neo4jPool(folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder)
    yield pool
    pool.close()


@pytest.fixture(scope="module")
def runs_on() -> bool:
    """Tell whether the module leaves queries behind that no Neo4j can be made to stop."""
    return False


@pytest.fixture(scope="module")
def neo4j_login(neo4j_pool: Neo4jPool, *, runs_on: bool) -> Iterator[Login]:
    """Return the login to a Neo4j that is the module's alone, and ends with it if queries run on.

    Skip where java or mvn is missing, unless LLMEVAL_REQUIRE_NEO4J=1 forbids that.
    """
    with ExitStack() as stack:
        try:
            login = stack.enter_context(neo4j_pool.alone() if runs_on else neo4j_pool.lend())
        except Unavailable as reason:
            if os.environ.get("LLMEVAL_REQUIRE_NEO4J") == "1":
                pytest.fail(f"LLMEVAL_REQUIRE_NEO4J=1, but {reason}")
            pytest.skip(f"no Neo4j here: {reason}")
        yield login


@pytest.fixture(scope="session")
def arcadedb() -> None:
    """Skip where the embedded database is not installed."""
    if importlib.util.find_spec("arcadedb_embedded") is None:
        pytest.skip("arcadedb-embedded is not installed")


@pytest.fixture(scope="session")
def house() -> Path:
    """Return the file of the house's scene."""
    return HOUSE


@pytest.fixture(scope="module")
def scene() -> SceneGraph:
    """Return what the module's tests ask about: the house, unless the module says otherwise."""
    return read_scene(HOUSE)


@pytest.fixture(scope="module")
def limits() -> TimeLimits:
    """Return how long queries may take."""
    return LIMITS


@pytest.fixture(scope="module", params=["arcadedb", "neo4j"])
def live(
    request: pytest.FixtureRequest, runner: asyncio.Runner, scene: SceneGraph, limits: TimeLimits
) -> Iterator[LiveGraph]:
    """Return the scene on each engine."""
    if request.param == "arcadedb":
        request.getfixturevalue("arcadedb")
        opening: Any = EmbeddedGraph.start(scene, limits=limits)
    else:
        login = request.getfixturevalue("neo4j_login")
        opening = Neo4jGraph.open(login, scene, reset=True, progress=lambda _: None, limits=limits)
    graph = runner.run(opening)
    yield LiveGraph(runner, graph)
    runner.run(graph.close())

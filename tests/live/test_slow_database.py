"""A database's slowness is not the model's: whatever goes on beside a correct query, it counts."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest
from live.live_graph import LiveGraph
from live.own_servers import installed

from pytest_llmeval.domains.heracles.bolt import Bolt, Login, TimeLimits
from pytest_llmeval.domains.heracles.embedded import EmbeddedGraph
from pytest_llmeval.domains.heracles.neo4j import Neo4jGraph
from pytest_llmeval.domains.heracles.scene_graph import SceneGraph
from pytest_llmeval.domains.heracles.server_process import ServerKind
from pytest_llmeval.errors import ToolError
from pytest_llmeval.records import ToolUse

ROOMS = "MATCH (r:Room) RETURN count(r) + {} AS n"
PRODUCT = "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b RETURN sum(a * b) AS n"
LONG_ROW = "RETURN range(1, {}) AS numbers"
NUMBERS = {"arcadedb": 1_000_000, "neo4j": 10_000_000}
"""As long a row as the engine makes."""


@pytest.fixture(scope="module")
def limits() -> TimeLimits:
    return TimeLimits(server=2, deadline=4)


async def all_of(live: LiveGraph, queries: list[str]) -> list[ToolUse]:
    return await asyncio.gather(*map(live.graph.query, queries))


def test_correct_queries_beside_costly_ones_get_their_rows(live: LiveGraph) -> None:
    correct = [ROOMS.format(number) for number in range(12)]
    asked = [PRODUCT, *correct[:6], PRODUCT.replace("a *", "a +"), *correct[6:]]
    results = live.runner.run(all_of(live, asked))
    assert {use.input: use.error for use in results if "MATCH" in use.input} == dict.fromkeys(
        correct
    )


def test_a_cold_server_asked_all_at_once_costs_nobody_an_answer(
    kind: ServerKind, runner: asyncio.Runner, scene: SceneGraph
) -> None:
    queries = [
        f"MATCH (o:Object) WHERE o.center.x > {number} WITH o ORDER BY o.nodeSymbol "
        f"RETURN o.class AS class_{number}, count(o) AS n, collect(o.nodeSymbol)[{number}] AS one"
        for number in range(25)
    ]
    hasty = TimeLimits(server=1, deadline=2)
    live = LiveGraph(runner, runner.run(EmbeddedGraph.start(kind, scene, limits=hasty)))
    results = runner.run(all_of(live, queries))
    runner.run(live.graph.close())
    assert [use.error for use in results] == [None] * len(queries)


UNDER_WAY = (
    "SHOW TRANSACTIONS YIELD currentQuery WHERE currentQuery STARTS WITH 'UNWIND' RETURN count(*)"
)


@contextmanager
def opened(runner: asyncio.Runner, login: Login, scene: SceneGraph) -> Iterator[Neo4jGraph]:
    """Yield the scene on a user's server, with a deadline long before the server's limit."""
    hasty = TimeLimits(server=60, deadline=1)
    opening = Neo4jGraph.open(login, scene, reset=True, progress=lambda _: None, limits=hasty)
    graph = runner.run(opening)
    yield graph
    runner.run(graph.close())


def test_an_abandoned_query_is_ended_on_the_server(
    runner: asyncio.Runner, neo4j_login: Login, scene: SceneGraph
) -> None:
    async def under_way() -> str:
        bolt = Bolt(neo4j_login, TimeLimits(server=10, deadline=10))
        rows = await bolt.ask(UNDER_WAY)
        await bolt.close()
        return rows.text

    with opened(runner, neo4j_login, scene) as graph:
        result = runner.run(graph.query(PRODUCT))
    assert result.error == "no answer within 1 s; the connection was dropped"
    assert runner.run(under_way()).splitlines()[1] == "0"


def test_a_server_of_our_own_that_ends_an_abandoned_query_is_kept(
    runner: asyncio.Runner, scene: SceneGraph
) -> None:
    async def abandon() -> tuple[ToolUse, bool, ToolUse]:
        hasty = TimeLimits(server=60, deadline=3)
        graph = await EmbeddedGraph.start(installed("neo4j"), scene, limits=hasty)
        try:
            before = graph.process_id
            use = await graph.query(PRODUCT)
            same = graph.process_id == before
            return use, same, await graph.query(ROOMS.format(0))
        finally:
            await graph.close()

    abandoned, same, after = runner.run(abandon())
    assert abandoned.error == "no answer within 3 s; the connection was dropped"
    assert same
    assert after.output == "n\n9\n(1 row)"


def test_a_row_of_millions_of_numbers_leaves_the_loop_to_others(live: LiveGraph) -> None:
    async def ticks_meanwhile() -> tuple[int, float]:
        asked = asyncio.ensure_future(live.graph.query(query))
        ticks, longest, loop = 0, 0.0, asyncio.get_running_loop()
        while not asked.done():
            before = loop.time()
            await asyncio.sleep(0.01)
            ticks, longest = ticks + 1, max(longest, loop.time() - before)
        await asked
        return ticks, longest

    query = LONG_ROW.format(NUMBERS["neo4j" if live.is_neo4j else "arcadedb"])
    ticks, longest = live.runner.run(ticks_meanwhile())
    assert ticks > 10
    assert longest < 5.0  # unpacked in this process it was 15 s


@contextmanager
def starved(process_id: int) -> Iterator[None]:
    """Stop a process for most of the time, as a busy machine does."""
    over = threading.Event()

    def stop_and_go() -> None:
        with suppress(ProcessLookupError):
            while not over.wait(0.02):
                os.kill(process_id, signal.SIGSTOP)
                over.wait(0.2)
                os.kill(process_id, signal.SIGCONT)

    thread = threading.Thread(target=stop_and_go)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def test_an_embedded_server_that_gets_no_processor_is_no_fault_of_the_query(
    kind: ServerKind, runner: asyncio.Runner, scene: SceneGraph
) -> None:
    async def ask_while_starved() -> str:
        graph = await EmbeddedGraph.start(kind, scene, limits=TimeLimits(server=2, deadline=10))
        try:
            assert graph.process_id is not None
            with starved(graph.process_id):
                await graph.query(PRODUCT)
        except ToolError as error:
            return str(error)
        finally:
            await graph.close()
        return "counted against the model"

    assert runner.run(ask_while_starved()).startswith("the machine is too busy")

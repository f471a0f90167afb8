"""The embedded database is a child process that ends with its parent and is replaced if broken."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import platform
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from live.own_servers import installed
from neo4j.exceptions import Neo4jError

from pytest_llmeval.domains.heracles.bolt import Bolt, Login, TimeLimits
from pytest_llmeval.domains.heracles.embedded import EmbeddedGraph
from pytest_llmeval.domains.heracles.graph import open_graph
from pytest_llmeval.domains.heracles.server_process import ServerKind
from pytest_llmeval.errors import ToolError

if TYPE_CHECKING:
    from pytest_llmeval.domains.heracles.scene_graph import SceneGraph

GONE_SECONDS = 20
HASTY = TimeLimits(server=1.0, deadline=2.0)
# Doubles a string until the server's memory is full; it loses the connection without a code.
BOMB = "WITH 'xxxxxxxxxxxxxxxx' AS s " + "WITH s + s AS s " * 40 + "RETURN size(s) AS n"


@pytest.fixture(scope="module")
def graph(kind: ServerKind, runner: asyncio.Runner, scene: SceneGraph) -> Iterator[EmbeddedGraph]:
    graph = runner.run(EmbeddedGraph.start(kind, scene, limits=HASTY))
    yield graph
    runner.run(graph.close())


WATCH = """
import os, pathlib, sys, time
def lives(process_id):
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    return True
while lives(int(sys.argv[1])) or pathlib.Path(sys.argv[2]).exists():
    time.sleep(0.05)
"""


def wait_until_gone(process_id: str, folder: str) -> bool:
    """Return whether a process that is no child, and its folder, are gone in time, by polling."""
    try:
        subprocess.run(
            [sys.executable, "-c", WATCH, process_id, folder], timeout=GONE_SECONDS, check=True
        )
    except subprocess.TimeoutExpired:
        return False
    return True


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("neo4j", signal.SIGKILL),
        # What ends a server with its parent is the same for both kinds; this one starts sooner.
        *(("arcadedb", how) for how in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)),
    ],
)
def test_no_server_outlives_a_killed_parent(house: Path, name: str, how: signal.Signals) -> None:
    installed(name)
    script = Path(__file__).with_name("embedded_parent.py")
    command = [sys.executable, str(script), str(house), name]
    root = Path(__file__).parents[2]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONPATH": f"{root}{os.pathsep}{root / 'tests'}"},
    ) as parent:
        assert parent.stdout is not None
        process_id, folder = parent.stdout.readline().split()
        assert Path(folder).is_dir()
        parent.send_signal(how)
    assert wait_until_gone(process_id, folder)


def test_closing_ends_the_process_and_removes_its_folder(
    kind: ServerKind, runner: asyncio.Runner, scene: SceneGraph
) -> None:
    graph = runner.run(EmbeddedGraph.start(kind, scene))
    assert graph._server is not None
    process, folder = graph._server.process, graph._server.folder
    runner.run(graph.close())
    assert process.returncode == 0
    assert not folder.exists()


def test_many_queries_run_at_once_on_one_server(
    runner: asyncio.Runner, graph: EmbeddedGraph
) -> None:
    async def ask() -> set[str]:
        queries = [
            graph.query(f"MATCH (r:Room) RETURN count(r) + {number} AS n") for number in range(100)
        ]
        return {result.output for result in await asyncio.gather(*queries)}

    before = graph.process_id
    assert runner.run(ask()) == {f"n\n{number + 9}\n(1 row)" for number in range(100)}
    assert graph.process_id == before


def test_a_server_that_died_is_replaced_before_the_next_query(
    runner: asyncio.Runner, graph: EmbeddedGraph
) -> None:
    assert graph.process_id is not None
    os.kill(graph.process_id, signal.SIGKILL)
    result = runner.run(graph.query("MATCH (r:Room) RETURN count(r) AS n"))
    assert (result.output, result.error) == ("n\n9\n(1 row)", None)


def test_a_query_that_breaks_the_server_is_told_so_and_the_next_one_runs(
    runner: asyncio.Runner, graph: EmbeddedGraph
) -> None:
    first = runner.run(graph.query(BOMB))
    assert first.error is not None
    assert first.error.startswith("the query exhausted the database")
    assert runner.run(graph.query("MATCH (r:Room) RETURN count(r) AS n")).output == "n\n9\n(1 row)"


def test_neighbours_of_a_query_that_breaks_the_server_still_get_their_rows(
    runner: asyncio.Runner, graph: EmbeddedGraph
) -> None:
    async def ask() -> list[str | None]:
        queries = [graph.query("MATCH (o:Object) RETURN count(o) AS n") for _ in range(3)]
        results = await asyncio.gather(graph.query(BOMB), *queries)
        return [result.error for result in results]

    bomb, *neighbours = runner.run(ask())
    assert bomb is not None
    assert neighbours == [None, None, None]


def reader(runner: asyncio.Runner, graph: EmbeddedGraph) -> Bolt:
    return runner.run(graph._running()).reader


def test_the_reader_cannot_write_even_past_the_preflight(
    runner: asyncio.Runner, graph: EmbeddedGraph
) -> None:
    bolt = reader(runner, graph)

    async def write() -> None:
        async with bolt.session() as session:
            await (await session.run("CREATE (:Object {nodeSymbol: 'O999'})")).consume()

    with pytest.raises(Neo4jError, match=r"Forbidden|WriteOnReadOnly"):
        runner.run(write())


def test_only_who_knows_the_password_gets_in(runner: asyncio.Runner, graph: EmbeddedGraph) -> None:
    uri = reader(runner, graph)._login.uri

    async def knock() -> None:
        default = Login(uri=uri, username="root", password="playwithdata")  # noqa: S106 - known
        stranger = Bolt(default, HASTY)
        try:
            await stranger.agent()
        finally:
            await stranger.close()

    with pytest.raises(ToolError, match="refuses the user 'root'"):
        runner.run(knock())


def test_a_missing_installation_is_told_with_both_ways_out(
    runner: asyncio.Runner, house: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(
        ToolError,
        match=rf"'\.\[graph\]'.*{re.escape(platform.platform())}.*--llmeval-graph bolt://",
    ):
        runner.run(open_graph("arcadedb", house))


def test_where_no_neo4j_is_installed_the_stand_in_answers_and_a_line_says_so(
    runner: asyncio.Runner, house: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    installed("arcadedb")
    monkeypatch.setenv("LLMEVAL_CACHE", str(tmp_path))
    said: list[str] = []
    graph = runner.run(open_graph(None, house, progress=said.append))
    use = runner.run(graph.query("MATCH (r:Room) RETURN count(r) AS n"))
    runner.run(graph.close())
    assert (use.output, use.engine, use.stands_in_for) == ("n\n9\n(1 row)", "arcadedb", "Neo4j")
    assert said[0].startswith("graph: ArcadeDB answers instead of Neo4j")
    assert "llmeval graph install" in said[0]

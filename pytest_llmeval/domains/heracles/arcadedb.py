"""The embedded graph database: ArcadeDB in a child process, reached over Bolt.

A child process, because a JVM inside a Python that is signalled crashes, and because some queries
ignore every time limit and end only with the process. A server that hangs or breaks is replaced and
loaded again.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
import importlib.util
import json
import os
import platform
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

from pytest_llmeval.domains.heracles import arcadedb_server
from pytest_llmeval.domains.heracles.arcadedb_server import DATABASE, READER
from pytest_llmeval.domains.heracles.bolt import (
    Bolt,
    Login,
    NoAnswerError,
    QueryFailedError,
    TimeLimits,
    run_query,
)
from pytest_llmeval.domains.heracles.dialect import Adapted, adapt, property_types
from pytest_llmeval.domains.heracles.rows import RowsText
from pytest_llmeval.domains.heracles.scene_graph import SceneGraph
from pytest_llmeval.domains.heracles.scene_loading import fill_database
from pytest_llmeval.errors import ToolError
from pytest_llmeval.records import Json, ToolUse

LIMITS = TimeLimits(server=5.0, deadline=10.0)
_START_SECONDS = 60.0
_STOP_SECONDS = 5.0
_HEAP = "512m"
_WIDTH = 4
"""Most queries at once; they take milliseconds of CPU time each."""
_LOG_TAIL = 1_500

# The variables that the child process inherits; keys of model providers are not among them.
_ENVIRONMENT = (
    "PATH",
    "HOME",
    "LANG",
    "LC_ALL",
    "TMPDIR",
    "PYTHONPATH",
    "PYTHONHOME",
    "LD_LIBRARY_PATH",
)

_OTHERWISE = (
    "name a server with --llmeval-graph bolt://HOST:7687 (docs/heracles.md has one for Docker)"
)
_MISSING = (
    "this task asks a graph database, and none is given: install the embedded one with "
    "pip install '.[graph]' in the checkout; where pip finds no wheel of arcadedb-embedded for the "
    "platform ({platform} here; there are some for Linux with glibc 2.34 or newer, macOS 11 or "
    f"newer on Apple silicon, and Windows), {_OTHERWISE}"
)


class EmbeddedGraph:
    """A scene on an embedded server, which is restarted when it breaks: a `Graph`."""

    def __init__(
        self, scene: SceneGraph, *, progress: Callable[[str], None], limits: TimeLimits
    ) -> None:
        """Take what `start` will start."""
        self._scene, self._progress, self._limits = scene, progress, limits
        self._properties = property_types(scene)
        self._server: _Server | None = None
        self._starting = asyncio.Lock()
        self._slots = asyncio.Semaphore(_WIDTH)
        self._emptying = asyncio.Lock()

    @classmethod
    async def start(
        cls,
        scene: SceneGraph,
        *,
        progress: Callable[[str], None] = lambda _: None,
        limits: TimeLimits = LIMITS,
    ) -> EmbeddedGraph:
        """Return the graph with its server running and the scene loaded.

        Raises:
            ToolError: the server is not installed, does not start, or cannot be loaded.
        """
        graph = cls(scene, progress=progress, limits=limits)
        await graph._running()
        return graph

    async def query(self, cypher: str, *, stage: str = "query") -> ToolUse:
        """Run a model's query read-only; ToolError when no server can be started any more."""
        return await run_query(
            cypher, stage=stage, engine=_engine(), ask=self._ask, adapt=self._adapt
        )

    async def close(self) -> None:
        """Stop the server."""
        if self._server is not None:
            await self._server.stop()
            self._server = None

    @property
    def process_id(self) -> int | None:
        """Id of the server's process, None when none runs."""
        return None if self._server is None else self._server.process.pid

    def _adapt(self, cypher: str) -> Adapted:
        return adapt(cypher, self._properties)

    async def _ask(self, cypher: str, columns: Sequence[str] = ()) -> RowsText:
        """Run a query; one that fails is run again alone, and at last alone on a fresh server.

        A query that exhausts the server makes those beside it fail, or leaves a full memory, so
        only a query that fails alone on a fresh server is known to be at fault. A failure that the
        server reports and survives needs no fresh server.
        """
        with suppress(NoAnswerError):
            async with self._slots:
                return await self._attempt(cypher, columns)
        async with self._alone():
            while True:
                server = await self._running()
                untouched = server.asked == 0
                try:
                    return await self._attempt(cypher, columns)
                except NoAnswerError as trouble:
                    if server is self._server:
                        raise QueryFailedError(str(trouble)) from trouble
                    if untouched:
                        msg = (
                            "the query exhausted the database, which had to be restarted: "
                            f"{trouble}"
                        )
                        raise QueryFailedError(msg) from trouble

    async def _attempt(self, cypher: str, columns: Sequence[str] = ()) -> RowsText:
        """Run a query once, and discard the server when it does not answer any more."""
        server = await self._running()
        server.asked += 1
        try:
            return await server.reader.ask(cypher, columns)
        except NoAnswerError as trouble:
            if not (trouble.reported and await _lives(server)):
                await self._discard(server)
            raise

    async def _running(self) -> _Server:
        """Return a server that holds the scene; start one when none runs."""
        async with self._starting:
            if self._server is not None and self._server.process.poll() is not None:
                await self._discard(self._server)
            if self._server is None:
                self._server = await _start(self._scene, self._limits, self._progress)
            return self._server

    async def _discard(self, server: _Server) -> None:
        """Kill a server, unless another query has discarded it already."""
        if server is self._server:
            self._server = None
            await server.stop(kill=True)

    @asynccontextmanager
    async def _alone(self) -> AsyncIterator[None]:
        """Hold all slots, so that no other query runs."""
        async with self._emptying, AsyncExitStack() as stack:
            for _ in range(_WIDTH):
                await stack.enter_async_context(self._slots)
            yield


def _engine() -> str:
    return f"ArcadeDB/{importlib.metadata.version('arcadedb-embedded')}"


class _Server:
    """The child process and a read-only connection to it; `asked` counts the queries sent."""

    def __init__(self, process: subprocess.Popen[bytes], folder: Path, reader: Bolt) -> None:
        self.process, self._folder, self.reader = process, folder, reader
        self.asked = 0

    async def stop(self, *, kill: bool = False) -> None:
        """End the process, at once with `kill`, and remove its folder."""
        if kill:
            self.process.kill()
        try:
            async with asyncio.timeout(_STOP_SECONDS):
                await self.reader.close()
        except TimeoutError:
            self.process.kill()
        await asyncio.to_thread(_end, self.process, self._folder)


async def _lives(server: _Server) -> bool:
    """Return whether a server still answers queries."""
    try:
        await server.reader.ask("RETURN 1")
    except (NoAnswerError, QueryFailedError):
        return False
    return True


async def _start(scene: SceneGraph, limits: TimeLimits, progress: Callable[[str], None]) -> _Server:
    if importlib.util.find_spec("arcadedb_embedded") is None:
        raise ToolError(_MISSING.format(platform=platform.platform()))
    progress("graph: starting the embedded ArcadeDB")
    folder = Path(tempfile.mkdtemp(prefix="llmeval-graph-"))
    root, reader = secrets.token_urlsafe(24), secrets.token_urlsafe(24)
    process = _spawn()
    try:
        settings: dict[str, Json] = {
            "folder": str(folder),
            "seconds": limits.server,
            "root": root,
            "reader": reader,
            "heap": _HEAP,
        }
        uri = f"bolt://127.0.0.1:{await _port(process, settings, folder)}"
        loader = Bolt(Login(uri=uri, username="root", password=root, database=DATABASE), limits)
        try:
            await fill_database(loader, scene, where="the embedded ArcadeDB", progress=progress)
        finally:
            await loader.close()
    except BaseException:
        process.kill()
        await asyncio.to_thread(_end, process, folder)
        raise
    return _Server(
        process,
        folder,
        Bolt(Login(uri=uri, username=READER, password=reader, database=DATABASE), limits),
    )


def _spawn() -> subprocess.Popen[bytes]:
    environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    return subprocess.Popen(  # noqa: S603 - our own script, by our own interpreter
        # -P: the script's folder holds modules with names of libraries, such as neo4j.
        [sys.executable, "-P", arcadedb_server.__file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        start_new_session=True,  # Ctrl-C reaches the parent alone; the child ends with it
    )


async def _port(process: subprocess.Popen[bytes], settings: dict[str, Json], folder: Path) -> int:
    """Send the child its settings, and return the port that it serves on."""
    try:
        async with asyncio.timeout(_START_SECONDS):
            request = json.dumps(settings).encode() + b"\n"
            line = await asyncio.to_thread(_exchange, process, request)
            return int(json.loads(line)["port"])
    except TimeoutError:
        problem = f"was not ready after {_START_SECONDS:g} s"
    except (OSError, ValueError):
        problem = "ended while it started"
    log = folder / "server.log"
    tail = log.read_text(errors="replace")[-_LOG_TAIL:] if log.is_file() else "it left no log"
    msg = f"the embedded ArcadeDB {problem}; try again, or {_OTHERWISE}. It said: {tail}"
    raise ToolError(msg)


def _exchange(process: subprocess.Popen[bytes], line: bytes) -> bytes:
    assert process.stdin is not None  # noqa: S101 - both are pipes, by `_spawn`
    assert process.stdout is not None  # noqa: S101
    process.stdin.write(line)
    process.stdin.flush()
    return process.stdout.readline()


def _end(process: subprocess.Popen[bytes], folder: Path) -> None:
    """Wait until the process ends, kill it if it does not, and remove its folder."""
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(BrokenPipeError):  # unsent data for a dead process
                pipe.close()
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    shutil.rmtree(folder, ignore_errors=True)

"""A database server as a child process: started, loaded, warmed up, and ended."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Protocol

from pytest_llmeval.domains.heracles.bolt import (
    Bolt,
    Login,
    NoAnswerError,
    QueryFailedError,
    TimeLimits,
)
from pytest_llmeval.domains.heracles.model_query import Engine
from pytest_llmeval.domains.heracles.readers import Readers
from pytest_llmeval.domains.heracles.rows import RowsText
from pytest_llmeval.domains.heracles.scene_graph import SceneGraph
from pytest_llmeval.domains.heracles.scene_loading import fill_database
from pytest_llmeval.domains.heracles.server_child import LOG
from pytest_llmeval.domains.heracles.warm_up import WARM_UP
from pytest_llmeval.errors import ToolError
from pytest_llmeval.files.child_environment import child_environment
from pytest_llmeval.records import Json

OTHERWISE: Final = (
    "name a server with --llmeval-graph bolt://HOST:7687 (docs/heracles.md has one for Docker)"
)
HEAP: Final = "512m"
"""Memory of a server's own data, as Java's option has it."""

_START_SECONDS = 180.0
_STOP_SECONDS = 5.0
_LOG_TAIL = 1_500


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """How one server is started and reached.

    Attributes:
        request: what its process is sent, besides the folder.
        loader: login of who loads the scene; the port is not known yet.
        reader: login of who runs a model's queries.
    """

    request: dict[str, Json]
    loader: Login
    reader: Login


class ServerKind(Protocol):
    """A kind of database server that runs as a child process."""

    @property
    def title(self) -> str:
        """Its name in messages."""
        ...

    @property
    def module(self) -> str:
        """What the child runs (see `server_child`)."""
        ...

    @property
    def limits(self) -> TimeLimits:
        """How long queries may take, unless a caller says otherwise."""
        ...

    @property
    def ends_queries(self) -> bool:
        """Whether it can be asked to end a query that was abandoned."""
        ...

    def check(self) -> None:
        """Raise ToolError, with the way to install it, where it is not installed."""
        ...

    def engine(self) -> Engine:
        """Return what the records of queries call it."""
        ...

    def launch(self, limits: TimeLimits) -> Launch:
        """Return how a server is started, with new passwords."""
        ...


class ServerProcess:
    """The child process and read-only connections to it; `asked` counts a model's queries sent."""

    def __init__(
        self, process: subprocess.Popen[bytes], folder: Path, login: Login, limits: TimeLimits
    ) -> None:
        """Take a process that serves the reader's `login`, and the folder of its data."""
        self.process, self.folder = process, folder
        self.reader, self.readers = Bolt(login, limits), Readers(login, limits)
        self.asked = 0

    @classmethod
    async def start(
        cls,
        kind: ServerKind,
        scene: SceneGraph,
        limits: TimeLimits,
        progress: Callable[[str], None],
        *,
        sealed: bool = True,
    ) -> ServerProcess:
        """Return a server with the scene in it, warmed up; with `sealed`, nobody may write then.

        Raises:
            ToolError: it is not installed, does not start, or cannot be loaded.
        """
        kind.check()
        progress(f"graph: starting {kind.title}")
        launch = kind.launch(limits)
        process, folder = _spawned(kind)
        try:
            request = {"folder": str(folder), **launch.request}
            port = int((await _told(process, request, folder, kind.title))["port"])
            uri = f"bolt://127.0.0.1:{port}"
            loader = Bolt(replace(launch.loader, uri=uri), limits)
            await _fill(loader, scene, kind.title, progress)
            if sealed:
                await _told(process, None, folder, kind.title)
            server = cls(process, folder, replace(launch.reader, uri=uri), limits)
            await server.warm_up()
        except BaseException:
            process.kill()
            await asyncio.to_thread(_end, process, folder)
            raise
        return server

    async def ask(self, cypher: str, *, mark: str = "") -> RowsText:
        """Run a model's query as `Bolt.ask` does, with the same errors."""
        self.asked += 1
        return await self.readers.ask(cypher, mark=mark)

    async def lives(self) -> bool:
        """Return whether the server still answers queries."""
        try:
            await self.reader.ask("RETURN 1")
        except (NoAnswerError, QueryFailedError):
            return False
        return True

    async def warm_up(self) -> None:
        """Run what makes the next queries fast."""
        for cypher in WARM_UP:
            with suppress(NoAnswerError, QueryFailedError):
                await self.readers.ask(cypher)

    async def stop(self, *, kill: bool = False) -> None:
        """End the process, at once with `kill`, and remove its folder."""
        if kill:
            self.process.kill()
        async with AsyncExitStack() as ends:  # the last first, each also when one is cancelled
            ends.push_async_callback(asyncio.to_thread, _end, self.process, self.folder)
            ends.push_async_callback(self._close_reader)
            ends.push_async_callback(self.readers.close)

    async def _close_reader(self) -> None:
        try:
            async with asyncio.timeout(_STOP_SECONDS):
                await self.reader.close()
        except TimeoutError:
            self.process.kill()


def _spawned(kind: ServerKind) -> tuple[subprocess.Popen[bytes], Path]:
    """Return a new child process and a new folder for its data; ToolError when it has neither."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="llmeval-graph-"))
        try:
            return _spawn(kind.module), folder
        except BaseException:
            shutil.rmtree(folder)
            raise
    except OSError as error:
        msg = f"{kind.title} could not be started: {error}; try again, or {OTHERWISE}"
        raise ToolError(msg) from error


def _spawn(module: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - our own module, by our own interpreter
        [sys.executable, "-P", "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=child_environment(),
        start_new_session=True,  # Ctrl-C reaches the parent alone; the child ends with it
    )


async def _told(
    process: subprocess.Popen[bytes], request: dict[str, Json] | None, folder: Path, title: str
) -> dict[str, Any]:
    """Send the child a line, its request or an empty one, and return what it answers."""
    line = b"\n" if request is None else json.dumps(request).encode() + b"\n"
    try:
        async with asyncio.timeout(_START_SECONDS):
            answer: dict[str, Any] = json.loads(await asyncio.to_thread(_exchange, process, line))
    except TimeoutError:
        problem = f"was not ready after {_START_SECONDS:g} s"
    except (OSError, ValueError):
        problem = "ended while it started"
    else:
        return answer
    log = folder / LOG
    tail = log.read_text(errors="replace")[-_LOG_TAIL:] if log.is_file() else "it left no log"
    msg = f"{title} {problem}; try again, or {OTHERWISE}. It said: {tail}"
    raise ToolError(msg)


async def _fill(
    loader: Bolt, scene: SceneGraph, title: str, progress: Callable[[str], None]
) -> None:
    """Load the scene, and close the connection."""
    try:
        await fill_database(loader, scene, where=title, progress=progress)
    finally:
        await loader.close()


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

"""The child process of the embedded ArcadeDB: started, loaded, and ended."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import platform
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from pytest_llmeval.domains.heracles import arcadedb_server
from pytest_llmeval.domains.heracles.arcadedb_server import DATABASE, READER
from pytest_llmeval.domains.heracles.bolt import (
    Bolt,
    Login,
    NoAnswerError,
    QueryFailedError,
    TimeLimits,
)
from pytest_llmeval.domains.heracles.readers import Readers
from pytest_llmeval.domains.heracles.scene_graph import SceneGraph
from pytest_llmeval.domains.heracles.scene_loading import fill_database
from pytest_llmeval.domains.heracles.warm_up import WARM_UP
from pytest_llmeval.errors import ToolError
from pytest_llmeval.files.child_environment import child_environment
from pytest_llmeval.records import Json

OTHERWISE: Final = (
    "name a server with --llmeval-graph bolt://HOST:7687 (docs/heracles.md has one for Docker)"
)
_MISSING = (
    "this task asks a graph database, and none is given: install the embedded one with "
    "pip install '.[graph]' in the checkout; where pip finds no wheel of arcadedb-embedded for the "
    "platform ({platform} here; there are some for Linux with glibc 2.34 or newer, macOS 11 or "
    f"newer on Apple silicon, and Windows), {OTHERWISE}"
)
_START_SECONDS = 60.0
_STOP_SECONDS = 5.0
_HEAP = "512m"
_LOG_TAIL = 1_500


class ArcadeDBProcess:
    """The child process and read-only connections to it; `asked` counts a model's queries sent."""

    def __init__(
        self, process: subprocess.Popen[bytes], folder: Path, login: Login, limits: TimeLimits
    ) -> None:
        """Take a process that serves the reader's `login`, and the folder of its data."""
        self.process, self._folder = process, folder
        self.reader, self.readers = Bolt(login, limits), Readers(login, limits)
        self.asked = 0

    @classmethod
    async def start(
        cls, scene: SceneGraph, limits: TimeLimits, progress: Callable[[str], None]
    ) -> ArcadeDBProcess:
        """Return a server with the scene in it, warmed up.

        Raises:
            ToolError: it is not installed, does not start, or cannot be loaded.
        """
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
            login = Login(uri=uri, username=READER, password=reader, database=DATABASE)
            server = cls(process, folder, login, limits)
            await server.warm_up()
        except BaseException:
            process.kill()
            await asyncio.to_thread(_end, process, folder)
            raise
        return server

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
        await self.readers.close()
        try:
            async with asyncio.timeout(_STOP_SECONDS):
                await self.reader.close()
        except TimeoutError:
            self.process.kill()
        await asyncio.to_thread(_end, self.process, self._folder)


def _spawn() -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - our own script, by our own interpreter
        # -P: the script's folder holds modules with names of libraries, such as neo4j.
        [sys.executable, "-P", arcadedb_server.__file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=child_environment(),
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
    msg = f"the embedded ArcadeDB {problem}; try again, or {OTHERWISE}. It said: {tail}"
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

"""A server's process and folder end with it, also when its start fails or its end is cancelled."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from pytest_llmeval.domains.heracles.bolt import Login, TimeLimits
from pytest_llmeval.domains.heracles.neo4j_process import Neo4j
from pytest_llmeval.domains.heracles.readers import Readers
from pytest_llmeval.domains.heracles.scene_graph import SceneGraph
from pytest_llmeval.domains.heracles.server_process import Launch, ServerProcess
from pytest_llmeval.errors import ToolError

LIMITS = TimeLimits(server=1.0, deadline=1.0)
LOGIN = Login(uri="bolt://127.0.0.1:1", username="neo4j", password="")


class Installed(Neo4j):
    """A server that counts as installed."""

    def check(self) -> None:
        """Find it installed."""

    def launch(self, limits: TimeLimits) -> Launch:  # noqa: ARG002 - of the port
        """Return a launch without Java and jars."""
        return Launch(request={}, loader=LOGIN, reader=LOGIN)


class NeverClosed(Readers):
    """Reading processes that never end."""

    def __init__(self) -> None:
        """Start nothing."""
        super().__init__(LOGIN, LIMITS)
        self.asked_to_close = asyncio.Event()

    async def close(self) -> None:
        """Wait for ever."""
        self.asked_to_close.set()
        await asyncio.Event().wait()


def start() -> None:
    scene = SceneGraph(nodes=(), relationships=())
    asyncio.run(ServerProcess.start(Installed(), scene, LIMITS, lambda _: None))


def test_a_process_that_cannot_be_spawned_is_an_error_of_the_tool_and_leaves_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no-python"))
    with pytest.raises(ToolError, match=r"Neo4j 5\.\S+ could not be started: .*no-python"):
        start()
    assert not [*tmp_path.iterdir()]


def test_a_folder_that_cannot_be_made_is_an_error_of_the_tool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "absent"))
    with pytest.raises(ToolError, match=r"could not be started: .*absent"):
        start()


@pytest.mark.parametrize("kill", [True, False])
def test_a_cancelled_end_leaves_neither_process_nor_folder(tmp_path: Path, *, kill: bool) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-c", "import sys; sys.stdin.read()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )

    async def cancelled_stop() -> None:
        server = ServerProcess(process, folder, LOGIN, LIMITS)
        server.readers = readers = NeverClosed()
        stopping = asyncio.create_task(server.stop(kill=kill))
        await readers.asked_to_close.wait()
        stopping.cancel()
        await asyncio.gather(stopping, return_exceptions=True)

    try:
        asyncio.run(cancelled_stop())
        assert process.poll() is not None
        assert not folder.exists()
    finally:
        process.kill()
        process.wait()

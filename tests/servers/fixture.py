"""Loopback model servers in their own processes, and one as a fixture.

Its program is reset for each test.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest


class ModelServer:
    """The handle on the server's process."""

    def __init__(self, port: int) -> None:
        """Take the port it serves on."""
        self.port = port
        self.root = f"http://127.0.0.1:{port}"
        self.url = f"{self.root}/v1"

    def program(self, **settings: Any) -> None:
        """Set what the server does, and forget what it counted."""
        self._call("/admin/program", json.dumps(settings).encode())

    def report(self) -> Any:
        """Return what the server counted.

        Requests, peak in flight, attempts by prompt, outcomes, requests seen.
        """
        return self._call("/admin/report", None)

    def _call(self, path: str, data: bytes | None) -> Any:
        with urllib.request.urlopen(self.root + path, data, timeout=30) as response:  # noqa: S310 - loopback http
            return json.load(response)


def serving(port: int = 0) -> AbstractContextManager[ModelServer]:
    """Run the scripted server, on any port if none is named."""
    return running("openai_server.py", str(port))


@contextmanager
def running(script: str, *arguments: str) -> Iterator[ModelServer]:
    """Run a server of this folder in its own process.

    It ends when its standard input closes, so it never outlives us.
    """
    command = [sys.executable, str(Path(__file__).parent / script), *arguments]
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environ
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield ModelServer(json.loads(process.stdout.readline())["port"])
        process.stdin.close()
        process.wait(timeout=30)


@pytest.fixture(scope="session")
def model_server_process() -> Iterator[ModelServer]:
    """Run one server for the whole session."""
    with serving() as server:
        yield server


@pytest.fixture
def model_server(model_server_process: ModelServer) -> ModelServer:
    """Return the server, behaving well."""
    model_server_process.program()
    return model_server_process


@pytest.fixture(scope="session")
def messages_server_process() -> Iterator[ModelServer]:
    """Run one server of Anthropic's Messages API for the whole session."""
    with running("messages_server.py") as server:
        yield server


@pytest.fixture
def messages_server(messages_server_process: ModelServer) -> ModelServer:
    """Return the server of the Messages API, behaving well."""
    messages_server_process.program()
    return messages_server_process


@pytest.fixture(scope="session")
def batch_server_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModelServer]:
    """Run one server of batch APIs for the whole session."""
    with running("batch_server.py", str(tmp_path_factory.mktemp("batches") / "state")) as server:
        yield server


@pytest.fixture
def batch_server(batch_server_process: ModelServer) -> ModelServer:
    """Return the server of batch APIs, without a batch and behaving well."""
    batch_server_process.program()
    return batch_server_process

"""A Python that has imported everything already: see `warm/server.py`."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def warm_python() -> Iterator[str]:
    """Return the path of a command that starts sessions of pytest like Python, but sooner.

    It is Python itself where processes do not fork safely (macOS).
    """
    if sys.platform != "linux":
        yield sys.executable
        return
    with TemporaryDirectory() as folder:
        address, command = Path(folder) / "address", Path(folder) / "python"
        client = [sys.executable, "-I", "-S", str(HERE / "client.py"), str(address), sys.executable]
        command.write_text(f'#!/bin/sh\nexec {shlex.join(client)} "$@"\n')
        command.chmod(0o755)
        server = [sys.executable, str(HERE / "server.py"), str(address), str(command)]
        with subprocess.Popen(server, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            while (line := process.stdout.readline()) != b"ready\n":
                assert line, "the server has ended before it was ready"
            yield str(command)
            assert process.stdin is not None
            process.stdin.close()

"""Hostile programs in the sandbox, each really run: nothing of them gets out."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from sandboxes import ISOLATIONS, require

from pytest_llmeval.sandbox.containers import START, Container
from pytest_llmeval.sandbox.isolation import Isolation, readable_paths
from pytest_llmeval.sandbox.limits import Limits
from pytest_llmeval.sandbox.run import Run, run_program

PROGRAMS = yaml.safe_load(Path(__file__).with_name("hostile.yaml").read_text("utf-8"))
HIDDEN = "what-nobody-may-read"
MARK = f"llmeval-program-{os.getpid()}"
PROJECT = Path(__file__).parents[2]

IMAGE = [
    f"/{name}"
    for name in ("etc/passwd", "etc/shadow", "etc/hostname", "root", "home", "tmp", "var")
]
"""What an image has of its own."""

GRACE = 4.0
"""Seconds after the deadline within which a call has ended, on a busy machine."""


@dataclass
class Outside:
    """What a program must not reach: a folder with a secret, and servers on this machine."""

    folder: Path
    names: dict[str, Any] = field(default_factory=dict)
    connections: int = 0

    def listen(self, family: int, address: Any) -> socket.socket:
        server = socket.socket(family, socket.SOCK_STREAM)
        server.bind(address)
        server.listen()
        threading.Thread(target=self._count, args=(server,), daemon=True).start()
        return server

    def _count(self, server: socket.socket) -> None:
        while True:
            try:
                server.accept()
            except OSError:
                return
            self.connections += 1

    def state(self) -> object:
        """Return all that could have changed; the time of the last access changes by this look."""
        return [
            (str(path), *found[:7], *found[8:10], path.read_bytes() if path.is_file() else b"")
            for path in [self.folder, *sorted(self.folder.rglob("*"))]
            for found in [os.lstat(path)]
        ]


@pytest.fixture(scope="module")
def outside() -> Iterator[Outside]:
    # Not in pytest's own folder: that could be one which the sandbox reaches by its name.
    with tempfile.TemporaryDirectory() as name:
        outside = Outside(Path(name))
        (outside.folder / "secret").write_text(HIDDEN)
        abstract = f"llmeval-{os.getpid()}"
        tcp = outside.listen(socket.AF_INET, ("127.0.0.1", 0))
        servers = [tcp, outside.listen(socket.AF_UNIX, f"{name}/socket")]
        if sys.platform == "linux":
            servers.append(outside.listen(socket.AF_UNIX, f"\0{abstract}"))
        outside.names = {
            "OUTSIDE": name,
            "SOCKET": f"{name}/socket",
            "ABSTRACT": abstract,
            "PORT": tcp.getsockname()[1],
            "PARENT": os.getpid(),
            "HOME": str(Path.home()),
            "PROJECT": str(PROJECT),
            "READABLE": readable_paths(),
        }
        yield outside
        for server in servers:
            server.close()


def run(program: str, isolation: Isolation, **limits: Any) -> Run:
    chosen = Limits(**{"cpu_seconds": 1, "memory_mb": 512, **limits})
    return asyncio.run(run_program(program, isolation=isolation, limits=chosen, arguments=[MARK]))


def marked_processes() -> list[bytes]:
    """Return the command lines of all processes that a program of this test is or started."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if MARK.encode() in line:
            found.append(line)
    return found


@pytest.mark.parametrize("isolation", ISOLATIONS)
@pytest.mark.parametrize("case", PROGRAMS, ids=lambda case: case["name"])
def test_nothing_of_a_hostile_program_gets_out(
    case: dict[str, Any],
    isolation: Isolation,
    outside: Outside,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    require(isolation)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("OPENAI_API_KEY", HIDDEN)
    monkeypatch.setenv("SOME_SETTING", HIDDEN)
    before = outside.state()
    names = "".join(f"{name} = {json.dumps(value)}\n" for name, value in outside.names.items())
    container = Container.of(isolation)
    names += f"IMAGE = {IMAGE if container else []}\n"
    seconds = case.get("seconds", 20.0)
    start = time.monotonic()
    ended = run(
        names + case["program"],
        isolation,
        wall_seconds=seconds,
        cpu_seconds=case.get("cpu_seconds", 1),
    )

    assert time.monotonic() - start < seconds + GRACE + (START if container else 0)
    assert "LEAK" not in ended.output
    assert HIDDEN not in ended.output + ended.errors
    assert outside.state() == before
    assert outside.connections == 0
    assert marked_processes() == []
    assert list(tmp_path.iterdir()) == []
    expected = case.get("problem", ...)
    if isolation != "landlock":
        expected = case.get("in_bubblewrap", expected)
    if expected is not ...:
        assert (ended.problem is None) == (expected is None), ended
        assert (expected or "") in (ended.problem or "")

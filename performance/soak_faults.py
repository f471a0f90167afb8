"""The faults that meet the soak's sessions, and the moments at which they do."""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE
from typing import Final, Literal, TypeAlias

from soak_clock import FORMAT
from soak_processes import databases_of, workers_of
from soak_project import Part

When: TypeAlias = Literal["seconds", "asked", "rows"]
"""What is counted from a session's start: its seconds, requests at the server, or rows on disk."""

HOUR: Final = 3600.0
SERVER: Final = Path(__file__).with_name("soak_server.py")


@dataclass(frozen=True, kw_only=True)
class Strike:
    """A fault, and the moment in a session at which it comes."""

    fault: str
    when: When
    count: float

    def __str__(self) -> str:
        """Return both as the log has them."""
        return f"{self.fault} at {self.count:.0f} {self.when}"


class ModelServer:
    """The soak's model server, a child process that can be killed and comes back at its port."""

    def __init__(self, ledger: Path, seed: int) -> None:
        """Start it."""
        self._ledger, self._seed, self.port, self.kills = ledger, seed, 0, 0
        self._process = self._started()

    @property
    def process_id(self) -> int:
        """The id of its process."""
        return self._process.pid

    def kill(self, seconds: float) -> None:
        """Kill it, and start it again after some seconds, in which connections are refused."""
        self.kills += 1
        self._process.kill()
        self._process.communicate()
        time.sleep(seconds)
        self._process = self._started()

    def close(self) -> None:
        """End it."""
        self._process.communicate()

    def _started(self) -> subprocess.Popen[str]:
        command = [sys.executable, str(SERVER), str(self.port), str(self._ledger), str(self._seed)]
        # In a process group of its own: Ctrl-C for the soak must not end it first.
        process = subprocess.Popen(
            command, stdin=PIPE, stdout=PIPE, text=True, start_new_session=True
        )
        assert process.stdout is not None  # noqa: S101 - a pipe
        self.port = json.loads(process.stdout.readline())["port"]
        return process


class Clock:
    """The wall clock of all sessions, by `soak_clock`."""

    def __init__(self, file: Path) -> None:
        """Begin with the right time."""
        self.file, self.jumps = file, 0
        self._set(0.0)

    def jump(self, seconds: float) -> None:
        """Put the clock off by some seconds, from now on."""
        self.jumps += 1
        self._set(seconds)

    def _set(self, seconds: float) -> None:
        # In place: the sessions have mapped this file.
        with self.file.open("r+b" if self.file.exists() else "wb") as file:
            file.write(struct.pack(FORMAT, seconds))


@dataclass(frozen=True, kw_only=True)
class Target:
    """What a fault can reach: a session's processes and files, and what it depends on.

    Attributes:
        process: id of pytest's main process, which leads its process group.
        files: returns the files that the session is writing into.
    """

    process: int
    server: ModelServer
    clock: Clock
    files: Callable[[], list[Path]]
    draw: random.Random


def _kill(target: Target) -> None:
    os.kill(target.process, signal.SIGKILL)


def _terminate(target: Target) -> None:
    os.kill(target.process, signal.SIGTERM)


def _interrupt(target: Target) -> None:
    """Send what Ctrl-C sends, once or twice, to all processes of the foreground."""
    os.killpg(target.process, signal.SIGINT)
    if target.draw.random() < 0.5:
        time.sleep(target.draw.uniform(0.05, 1.0))
        try:
            os.killpg(target.process, signal.SIGINT)
        except ProcessLookupError:
            return


def _fill_the_disk(target: Target) -> None:
    """Let no file of the main process grow beyond the size of one that it is writing."""
    sizes = [file.stat().st_size for file in target.files()]
    limit = (target.draw.choice(sizes) if sizes else 0) + target.draw.randrange(1_000, 60_000)
    resource.prlimit(target.process, resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))


def _kill_a_worker(target: Target) -> None:
    if workers := workers_of(target.process):
        os.kill(target.draw.choice(workers), signal.SIGKILL)


def _kill_the_database(target: Target) -> None:
    for process in databases_of(target.process):
        os.kill(process, signal.SIGKILL)


def _lose_the_server(target: Target) -> None:
    target.server.kill(target.draw.uniform(1.0, 5.0))


def _move_the_clock(target: Target) -> None:
    target.clock.jump(target.draw.uniform(-12, 12) * HOUR)


ENDS: Final[Mapping[str, Callable[[Target], None]]] = {
    "kill": _kill,
    "terminate": _terminate,
    "interrupt": _interrupt,
    "disk": _fill_the_disk,
}
"""Faults that end a session."""

TROUBLES: Final[Mapping[str, Callable[[Target], None]]] = {
    "worker": _kill_a_worker,
    "server": _lose_the_server,
    "clock": _move_the_clock,
    "database": _kill_the_database,
}
"""Faults after which a session goes on."""

ALL: Final = {**ENDS, **TROUBLES}


def drawn_strikes(
    draw: random.Random, part: Part, *, unpaid: int, workers: bool
) -> tuple[Strike, ...]:
    """Return the faults of one session: some that it survives, and one that ends it.

    Args:
        draw: decides.
        part: its part of the samples.
        unpaid: prompts of the part whose replies are not stored yet.
        workers: whether it has workers.
    """
    possible = [name for name in TROUBLES if name != "database" and (workers or name != "worker")]
    troubles = draw.sample(possible, draw.randrange(len(possible) + 1))
    # Each time: few sessions have a database.
    troubles += ["database"] if part.graph else []
    struck = [*troubles, draw.choice([*ENDS])]
    return tuple(_strike(draw, name, len(part.expected), unpaid) for name in struck)


def _strike(draw: random.Random, fault: str, samples: int, unpaid: int) -> Strike:
    """Return a fault at a moment: of the start, amid requests, amid rows, or at the very end."""
    if fault == "database":  # Amid rows: before, it has not begun, and after, nobody asks it.
        return Strike(fault=fault, when="rows", count=draw.uniform(0.01, 0.5) * samples)
    moments = ["rows", "rows", "end", *(["asked"] * 2 if unpaid > 0 else [])]
    # Ctrl-C before pytest has begun ends Python itself, with a traceback of its own.
    moments += [] if fault == "interrupt" else ["start"]
    match draw.choice(moments):
        case "start":
            return Strike(fault=fault, when="seconds", count=draw.uniform(0.5, 8))
        case "asked":
            count = max(1, draw.uniform(0.02, 0.7) * unpaid)
            return Strike(fault=fault, when="asked", count=count)
        case "end":
            return Strike(fault=fault, when="rows", count=samples)
        case _:
            return Strike(fault=fault, when="rows", count=draw.uniform(0.05, 0.95) * samples)

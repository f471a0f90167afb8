"""Processes below this one: found by the tables of Linux, also when their parents have died."""

from __future__ import annotations

import ctypes
import os
import re
import time
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Final

_PR_SET_CHILD_SUBREAPER: Final = 36
_WORKER: Final = b"exec(eval(sys.stdin.readline()))"
"""What stands in the command line of a worker that execnet has started."""

_DATABASE: Final = re.compile(rb"heracles\.(neo4j|arcadedb)_server")


def adopt_orphans() -> None:
    """Become the parent of all descendants whose own parents die, so that none gets out of sight.

    Raises:
        OSError: the system refuses.
    """
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


def descendants(root: int) -> list[int]:
    """Return the ids of all processes below `root`, zombies included."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with suppress(OSError):
                after_name = (folder / "stat").read_text().rpartition(")")[2].split()
                children.setdefault(int(after_name[1]), []).append(int(folder.name))
    found, waiting = [], [root]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


def workers_of(session: int) -> list[int]:
    """Return the ids of the xdist workers of a session."""
    return [one for one in descendants(session) if _WORKER in command_line(one)]


def databases_of(session: int) -> list[int]:
    """Return the ids of the database servers of a session."""
    return [one for one in descendants(session) if _DATABASE.search(command_line(one))]


def command_line(process: int) -> bytes:
    """Return the command line, its words divided by NUL; empty for a process that has ended."""
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""


def peak_megabytes(process: int) -> float:
    """Return the most memory that a process has had (resident); 0 if it has ended."""
    with suppress(OSError):
        status = Path(f"/proc/{process}/status").read_text()
        if peak := re.search(r"^VmHWM:\s*(\d+) kB$", status, re.MULTILINE):
            return int(peak[1]) / 1024
    return 0.0


def wait_for_the_end(spared: Collection[int], seconds: float) -> list[str]:
    """Wait until no process but the `spared` is below this one; return the others' command lines.

    Orphans that have ended are reaped.
    """
    end = time.monotonic() + seconds
    while True:
        left = [one for one in descendants(os.getpid()) if one not in spared]
        for one in left:
            with suppress(ChildProcessError):
                os.waitpid(one, os.WNOHANG)
        if not left:
            return []
        if time.monotonic() > end:
            return [command_line(one).replace(b"\0", b" ").decode(errors="replace") for one in left]
        time.sleep(0.1)

"""A process that has imported what sessions of pytest need, and forks one for each request.

``server.py ADDRESS PYTHON`` listens at a Unix socket until its standard input closes. A fork is a
process like any other: pid, environment, folder, streams, exit status and finalisers are its own.
What it is spared is to import everything again: two CPU seconds, and as much for each worker.
"""

from __future__ import annotations

import gc
import importlib
import marshal
import os
import runpy
import select
import signal
import socket
import struct
import sys
import tempfile
import types
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pytest


class Request(NamedTuple):
    """What a fork is to be: its arguments, environment, folder, and whether it ignores SIGINT."""

    arguments: list[str]
    environment: dict[str, str]
    folder: str
    deaf: bool


def main(address: str, python: str) -> None:
    """Import everything and serve, or be the fork that was asked for, with `python` for others."""
    own = {str(Path(__file__).parent), *os.environ.get("PYTHONPATH", "").split(os.pathsep)}
    libraries = [part for part in sys.path if part not in own]
    with tempfile.TemporaryDirectory() as empty:
        plugins = ["-p", "pytest_llmeval.plugin", "-p", "everything", "-p", "no:cacheprovider"]
        pytest.main([*plugins, "-q", "--rootdir", empty, empty])
    gc.freeze()  # or the first collection of each fork would copy all that was imported
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen(64)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        request = next_fork(listener)
    become(request, libraries, python)


def next_fork(listener: socket.socket) -> Request:
    """Serve; return in each fork what it is to be.

    SystemExit: standard input has closed.
    """
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the guards
    while True:
        if 0 in select.select([listener.fileno(), 0], [], [])[0]:
            raise SystemExit
        with listener.accept()[0] as connection:
            if os.fork() == 0:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                return guarded(connection)


def guarded(connection: socket.socket) -> Request:
    """Return in a child with the request; the parent answers with the exit status, and ends.

    If the client is killed, so is the child.
    """
    head, streams, _, _ = socket.recv_fds(connection, 4, 3)
    text = connection.recv(struct.unpack("!I", head)[0], socket.MSG_WAITALL)
    child = os.fork()
    if child == 0:
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        return Request(*marshal.loads(text))  # noqa: S302 - from our own client
    for stream in (0, 1, 2, *streams):
        os.close(stream)
    ended = os.pidfd_open(child)
    if ended not in select.select([connection.fileno(), ended], [], [])[0]:
        os.kill(child, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with suppress(OSError):
        connection.sendall(struct.pack("!i", status))
    os._exit(0)


def become(request: Request, libraries: list[str], python: str) -> None:
    """Take over what was asked for, and run it: a session of pytest, or a worker of xdist."""
    os.environ.clear()
    os.environ.update(request.environment)
    os.chdir(request.folder)
    signal.signal(signal.SIGINT, signal.SIG_IGN if request.deaf else signal.default_int_handler)
    sys.executable = python
    sys.dont_write_bytecode = True  # or a module that a test rewrites at once would stay as it was
    sys.modules["__main__"] = types.ModuleType("__main__")
    own = [part for part in request.environment.get("PYTHONPATH", "").split(os.pathsep) if part]
    importlib.invalidate_caches()
    first, *rest = request.arguments
    if first == "-u":
        sys.argv, sys.path[:] = ["-c"], ["", *own, *libraries]
        exec(eval(sys.stdin.readline()), {"__name__": "__main__"})  # noqa: S102, S307 - as execnet
        return
    sys.argv = ["pytest", *(rest[1:] if first == "-m" else rest)]
    sys.path[:] = [request.folder, *own, *libraries]
    sys.modules["xdist.plugin"]._sys_path[:] = sys.path  # it has kept the path for its workers
    runpy.run_module("pytest", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(*sys.argv[1:])

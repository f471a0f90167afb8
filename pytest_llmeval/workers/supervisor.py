"""The process beside a worker: it starts the worker, copies its streams, and ends it.

It runs as a task of Ray (`connect_back`), or as ``COMMAND -m pytest_llmeval.workers.supervisor`` on
standard input and output. When the broker is lost, the worker is killed: a worker whose results no
process will ever read does not go on.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from pytest_llmeval.workers.code_version import code_version, python_version
from pytest_llmeval.workers.connection import PIECE, Connection, PeerLostError, as_supervisor
from pytest_llmeval.workers.frames import Frame, Kind
from pytest_llmeval.workers.proof import IDENTITY, Credentials, ProofError
from pytest_llmeval.workers.remote_session import ROOTS_VARIABLE, moved
from pytest_llmeval.workers.setup import Exit, Hello, Setup

GREETING: Final = b"llmeval-supervisor-1\n"
"""First bytes of a supervisor on standard output, by which a banner of the command is noticed."""

SAID: Final = 4096
"""Bytes of the worker's standard error that are kept."""

_EXECNET: Final = "import sys;exec(eval(sys.stdin.readline()))"
"""The program of execnet's workers: it runs the first line that it gets."""


def main() -> None:
    """Serve the broker on standard input and output."""
    asyncio.run(_on_streams())


async def _on_streams() -> None:
    reader, writer = await _standard_streams()
    writer.write(GREETING)
    given = await reader.readexactly(IDENTITY + 32 + 8)
    credentials = Credentials(given[:IDENTITY], given[IDENTITY:-8])
    silence = int.from_bytes(given[-8:], "big") / 1000
    await _serve(reader, writer, credentials, silence)


def order_on_streams(credentials: Credentials, silence: float) -> bytes:
    """Return what the broker sends first to a supervisor on standard input."""
    return credentials.identity + credentials.secret + round(silence * 1000).to_bytes(8, "big")


def connect_back(address: tuple[str, int], identity: bytes, secret: bytes, silence: float) -> None:
    """Connect to the broker at `address` (host, port) and serve it until one of both ends."""
    asyncio.run(_connected(address, Credentials(identity, secret), silence))


async def _connected(address: tuple[str, int], credentials: Credentials, silence: float) -> None:
    reader, writer = await asyncio.open_connection(*address)
    await _serve(reader, writer, credentials, silence)


async def _serve(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    credentials: Credentials,
    silence: float,
) -> None:
    try:
        connection = await as_supervisor(reader, writer, credentials, silence=silence)
    except ProofError:
        writer.transport.abort()
        raise
    beating = asyncio.create_task(connection.beat())
    try:
        await _supervise(connection, beating)
    except PeerLostError:
        return
    finally:
        beating.cancel()
        connection.close()


async def _supervise(connection: Connection, beating: asyncio.Task[None]) -> None:
    frames = connection.frames()
    setup = Setup.from_bytes((await anext(frames)).payload)
    try:
        child = await _started(setup)
    except OSError as error:
        await connection.send(Kind.REFUSED, f"{error} (on {socket.gethostname()})".encode())
        return
    beating.cancel()
    try:
        hello = Hello(socket.gethostname(), os.getpid(), python_version(), code_version())
        await connection.send(Kind.HELLO, hello.to_bytes())
        await _copy(connection, frames, child)
    finally:
        with suppress(ProcessLookupError):
            child.kill()
        await child.wait()


async def _copy(
    connection: Connection, frames: AsyncIterator[Frame], child: asyncio.subprocess.Process
) -> None:
    """Copy until the worker has ended and its end is reported; PeerLostError without a broker."""
    assert child.stdin and child.stdout and child.stderr  # noqa: S101, PT018 - pipes, as started
    said = asyncio.create_task(_tail(child.stderr))
    lost: list[asyncio.Task[None]] = [
        asyncio.create_task(connection.beat(lambda: not _is_stopped(child.pid))),
        asyncio.create_task(_to_worker(frames, child.stdin)),
    ]
    output = asyncio.create_task(_from_worker(child.stdout, connection))
    try:
        await asyncio.wait([output, *lost], return_when=asyncio.FIRST_COMPLETED)
        for loss in lost:
            if loss.done():
                loss.result()
        await output
        ended = Exit(await child.wait(), (await said).decode(errors="replace"))
        await connection.send(Kind.EXIT, ended.to_bytes())
    finally:
        for task in (*lost, output, said):
            task.cancel()
        await asyncio.gather(*lost, output, said, return_exceptions=True)


async def _to_worker(frames: AsyncIterator[Frame], stdin: asyncio.StreamWriter) -> None:
    """Copy what the broker sends; end only by the loss of the broker."""
    async for frame in frames:
        # A worker that has ended reads no more; its end is reported by its output's.
        with suppress(ConnectionError):
            if frame.kind is Kind.DATA:
                stdin.write(frame.payload)
                await stdin.drain()
            elif frame.kind is Kind.END:
                stdin.close()


async def _from_worker(stdout: asyncio.StreamReader, connection: Connection) -> None:
    while piece := await stdout.read(PIECE):
        await connection.send(Kind.DATA, piece)


async def _tail(stderr: asyncio.StreamReader) -> bytes:
    """Read standard error to its end, and return the end of it."""
    kept = b""
    while piece := await stderr.read(PIECE):
        kept = (kept + piece)[-SAID:]
    return kept


async def _started(setup: Setup) -> asyncio.subprocess.Process:
    """Start the worker; OSError if its folder is missing."""
    there = setup.there or _here()
    folder = _folder(moved(setup.folder, setup.here, there))
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-u", "-c", _EXECNET),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=folder,
        env=_environment(setup, there),
    )


def _here() -> str:
    return str(Path.cwd())


def _folder(path: str) -> Path:
    if not (folder := Path(path)).is_dir():
        msg = f"there is no folder {folder}"
        raise FileNotFoundError(msg)
    return folder


def _environment(setup: Setup, there: str) -> dict[str, str]:
    """Return the worker's environment: this process's, the settings, the path, no key."""
    modules = [found for one in setup.path if Path(found := moved(one, setup.here, there)).is_dir()]
    package = str(Path(__file__).parents[2])
    own = [] if Path(package).name in {"site-packages", "dist-packages"} else [package]
    inherited = os.environ.get("PYTHONPATH")
    path = [*dict.fromkeys([*own, *modules]), *([inherited] if inherited else [])]
    given = {**os.environ, **setup.environment}
    return {
        **{name: value for name, value in given.items() if name not in setup.without},
        "PYTHONPATH": os.pathsep.join(path),
        ROOTS_VARIABLE: json.dumps([setup.here, there]),
    }


def _is_stopped(pid: int) -> bool:
    """Return whether a child is stopped (SIGSTOP): it is as good as silent."""
    if not hasattr(os, "waitid"):
        return False
    try:
        # WNOWAIT leaves the state, and the child's end, to be read by others.
        found = os.waitid(os.P_PID, pid, os.WSTOPPED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return found is not None


async def _standard_streams() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Return standard input and output, of which nothing else in the process has any more part."""
    incoming, outgoing = os.dup(0), os.dup(1)
    # A print of some module must not stand between the frames.
    os.dup2(2, 1)
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(incoming, "rb", buffering=0)
    )
    transport, protocol = await loop.connect_write_pipe(
        asyncio.streams.FlowControlMixin, os.fdopen(outgoing, "wb", buffering=0)
    )
    return reader, asyncio.StreamWriter(transport, protocol, reader, loop)


if __name__ == "__main__":
    main()

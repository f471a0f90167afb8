"""The Neo4j servers of a test session, each started by one worker and lent to all."""

from __future__ import annotations

import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from live.neo4j_process import Neo4jProcess

from pytest_llmeval.domains.heracles.bolt import Login


class Neo4jPool:
    """Lends servers to one borrower at a time each; starts one when none is free."""

    def __init__(self, folder: Path) -> None:
        """Know the servers of all workers by their files in `folder`, which they share."""
        self._folder = folder
        self._own: dict[Path, Neo4jProcess] = {}

    @contextmanager
    def lend(self) -> Iterator[Login]:
        """Yield the login to a server for exclusive use; Unavailable when none can be started."""
        for file in sorted(self._folder.glob("*.uri")):
            with _locked(file, wait=False) as free:
                if free and _answers(uri := file.read_text()):
                    yield Neo4jProcess.login_at(uri)
                    return
        file = self._folder / f"{os.getpid()}-{len(self._own)}.uri"
        with _locked(file, wait=True):
            server = self._own[file] = Neo4jProcess()
            file.write_text(server.login.uri)
            yield server.login

    @contextmanager
    def alone(self) -> Iterator[Login]:
        """Yield the login to a server that is stopped afterwards, with what still runs in it."""
        server = Neo4jProcess()
        try:
            yield server.login
        finally:
            server.stop()

    def close(self) -> None:
        """Stop this worker's own servers, each as soon as nobody uses it."""
        for file, server in self._own.items():
            with _locked(file, wait=True):
                file.write_text("")
                server.stop()


@contextmanager
def _locked(file: Path, *, wait: bool) -> Iterator[bool]:
    """Hold a file's lock, which ends with the process; yield whether it is held."""
    with file.open("a") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield False
        else:
            yield True


def _answers(uri: str) -> bool:
    """Return whether somebody listens there: a worker that died took its server along."""
    address = urlsplit(uri)
    try:
        socket.create_connection((address.hostname or "", address.port or 0)).close()
    except OSError:
        return False
    return True

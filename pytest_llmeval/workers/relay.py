"""The process that execnet starts for a worker: it copies its streams to and from the broker.

``python -I -S relay.py SOCKET SLOT``: it imports nothing but the standard library, as there may be
hundreds of them. Whichever direction ends first ends that direction alone, and the end of what the
broker sends ends the process.
"""

from __future__ import annotations

import os
import socket
import sys
import threading
from contextlib import suppress


def main(place: str, slot: str) -> None:
    """Copy between standard streams and the broker's socket, for the worker in a slot."""
    with socket.socket(socket.AF_UNIX) as peer:
        peer.connect(place)
        peer.sendall(slot.encode() + b"\n")
        threading.Thread(target=_upwards, args=(peer,), daemon=True).start()
        while piece := peer.recv(1 << 16):
            _write(piece)


def _upwards(peer: socket.socket) -> None:
    # An error means that the broker has ended the connection, which the other direction notices.
    with suppress(OSError):
        while piece := os.read(0, 1 << 16):
            peer.sendall(piece)
        peer.shutdown(socket.SHUT_WR)


def _write(piece: bytes) -> None:
    rest = memoryview(piece)
    while rest:
        rest = rest[os.write(1, rest) :]


if __name__ == "__main__":
    # The main process may have ended: there is no reader, and no reader of a traceback either.
    with suppress(OSError):
        # What execnet adds for a Python (-u -c ..) follows.
        main(*sys.argv[1:3])
    os._exit(0)

"""What tests start in place of Python: it asks a server for a fork, and ends like that.

``client.py ADDRESS PYTHON ARGUMENTS...`` passes on its arguments, environment, folder and standard
streams (see `server.py`). It becomes PYTHON itself unless the arguments start pytest or a worker of
xdist, and where the environment tells Python more than a fork takes over. It imports little.
"""

from __future__ import annotations

import marshal
import os
import signal
import socket
import struct
import sys

STARTS = (
    ["-mpytest"],
    ["-m", "pytest"],
    ["-u", "-c", "import sys;exec(eval(sys.stdin.readline()))"],
)
"""How arguments start: those of pytest, twice, and those by which execnet starts a worker."""

TAKEN_OVER = {"PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED"}
"""Python's variables that a fork heeds, or that change nothing that a test sees."""


def main(address: str, python: str, arguments: list[str]) -> int:
    """Return the exit status; negative after a signal."""
    told = {name for name in os.environ if name.startswith("PYTHON")}
    if not told <= TAKEN_OVER or not any(arguments[: len(start)] == start for start in STARTS):
        os.execv(python, [python, *arguments])  # noqa: S606 - nothing for a shell to read
    deaf = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    folder = os.getcwd()  # noqa: PTH109 - spares an import
    request = marshal.dumps((arguments, dict(os.environ), folder, deaf))
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address)
        socket.send_fds(connection, [struct.pack("!I", len(request))], [0, 1, 2])
        connection.sendall(request)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the fork is in our group, and hears it too
        answer = connection.recv(4, socket.MSG_WAITALL)
    return int(struct.unpack("!i", answer)[0]) if answer else 1


def end(status: int) -> None:
    """End like a process with this exit status."""
    if status >= 0:
        os._exit(status)
    if -status != signal.SIGKILL:
        signal.signal(-status, signal.SIG_DFL)
    os.kill(os.getpid(), -status)


if __name__ == "__main__":
    end(main(sys.argv[1], sys.argv[2], sys.argv[3:]))

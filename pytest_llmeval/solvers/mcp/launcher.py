"""The process around an MCP server, which ends with its parent and leaves nothing of it behind.

``python -I -S launcher.py LEASH COMMAND ARGUMENT...``; LEASH is the descriptor of a socket whose
other end is the parent's. When that is closed, because the parent wants it or died, or when the
server ends, the whole process group is killed. It is never another's group, for its leader, this
process, still lives then. The server's exit status is sent along the leash before. Run by path with
the standard library alone, so that it starts in some ten milliseconds.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
from contextlib import suppress

NOT_STARTED = 127
"""Exit status if the command cannot be started, as of shells."""


def main() -> None:
    """Run the command until it or the parent ends."""
    leash, command = socket.socket(fileno=int(sys.argv[1])), sys.argv[2:]
    os.set_inheritable(leash.fileno(), False)
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    server = os.fork()
    if server == 0:
        _become(command)
    _leave_pipes()
    while leash not in select.select([leash, woken], [], [])[0]:
        os.read(woken, 64)
        ended, status = os.waitpid(server, os.WNOHANG)
        if ended:
            with suppress(OSError):
                leash.send(str(os.waitstatus_to_exitcode(status)).encode())
            break
    os.killpg(0, signal.SIGKILL)


def _become(command: list[str]) -> None:
    """Replace this process by the server."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        os.execvp(command[0], command)  # noqa: S606 - the task's own command, without a shell
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\n".encode())
    os._exit(NOT_STARTED)


def _leave_pipes() -> None:
    """Give up the server's pipes, so that they end with it."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)


if __name__ == "__main__":
    main()

"""What the child processes of database servers share: their start, their output, their end.

Standard input brings one line of JSON, with ``folder`` and what the server needs besides, then an
empty line when the scene is loaded, and then stays open: when it ends, because the parent closed it
or died, the folder is removed and the process is gone. Standard output carries a line back for
each, ``{"port": N}`` and ``{}``; all else that is printed ends in the folder's ``server.log``.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TextIO

LOG: Final = "server.log"


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """A running server.

    Attributes:
        port: of Bolt, on the loopback interface.
        seal: lets nobody write into it any more.
    """

    port: int
    seal: Callable[[], None]


def serve(start: Callable[[Path, dict[str, Any]], Started]) -> None:
    """Serve until standard input ends.

    Args:
        start: starts the server, whose files belong into the folder, by the request on standard
            input. The folder is the current directory.
    """
    request = json.loads(sys.stdin.buffer.readline())
    folder, loaded = Path(request["folder"]), threading.Event()
    answer = _keep_output_apart(folder / LOG)
    threading.Thread(target=_leave_with_parent, args=(folder, loaded), daemon=True).start()
    os.chdir(folder)  # servers write logs into the current directory
    try:
        server = start(folder, request)
        print(json.dumps({"port": server.port}), file=answer, flush=True)
        loaded.wait()
        server.seal()
        print("{}", file=answer, flush=True)
    except BaseException:  # noqa: BLE001 - whatever it is, the process must end
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)  # threads of a server that is half started would keep the process alive
    threading.Event().wait()


def _keep_output_apart(log: Path) -> TextIO:
    """Send what the server prints to a file, and return a stream to the real standard output."""
    answer = os.fdopen(os.dup(1), "w")
    with log.open("wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    return answer


def _leave_with_parent(folder: Path, loaded: threading.Event) -> None:
    """Wait for the end of standard input, then end this process at once; its data is a copy."""
    while sys.stdin.buffer.readline():
        loaded.set()
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)

"""What the child processes of database servers share: their start, their output, their end.

Standard input brings one line of JSON, with ``folder`` and what the server needs besides, and then
stays open: when it ends, because the parent closed it or died, the folder is removed and the
process is gone. Standard output carries one line back, ``{"port": N}``; all else that is printed
ends in the folder's ``server.log``.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TextIO

LOG: Final = "server.log"


def serve(start: Callable[[Path, dict[str, Any]], int]) -> None:
    """Serve until standard input ends.

    Args:
        start: starts the server, whose files belong into the folder, by the request on standard
            input, and returns its port. The folder is the current directory.
    """
    request = json.loads(sys.stdin.buffer.readline())
    folder = Path(request["folder"])
    answer = _keep_output_apart(folder / LOG)
    threading.Thread(target=_leave_with_parent, args=(folder,), daemon=True).start()
    os.chdir(folder)  # servers write logs into the current directory
    try:
        port = start(folder, request)
    except BaseException:  # noqa: BLE001 - whatever it is, the process must end
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)  # threads of a server that is half started would keep the process alive
    answer.write(json.dumps({"port": port}) + "\n")
    answer.flush()
    threading.Event().wait()


def _keep_output_apart(log: Path) -> TextIO:
    """Send what the server prints to a file, and return a stream to the real standard output."""
    answer = os.fdopen(os.dup(1), "w")
    with log.open("wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    return answer


def _leave_with_parent(folder: Path) -> None:
    """Wait for the end of standard input, then end this process at once; its data is a copy."""
    while sys.stdin.buffer.read(1):
        pass
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)

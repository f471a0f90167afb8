"""How xdist's workers are started: without keys, and deaf to Ctrl-C until pytest runs in them."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Iterable
from typing import Any

_SHIELD = 'trap "" INT; exec "$@"'
"""A shell's line that starts a command for which SIGINT is ignored."""


def shield_workers(specs: Iterable[Any], variables: Iterable[str]) -> None:
    """Change the commands by which xdist starts its local workers, and those that replace them.

    A worker's environment is that of its start: what is removed later still stands in
    ``/proc/PID/environ``. The main process keeps its own, because providers read it there.

    Args:
        specs: execnet's specs of the workers; those on other machines inherit nothing.
        variables: names of the environment variables that workers do not get.
    """
    if os.name != "posix" or not (shutil.which("sh") and shutil.which("env")):
        return
    without = [part for name in sorted(variables) for part in ("-u", name)]
    for spec in specs:
        if spec.popen:
            python = shlex.split(spec.python) if spec.python else [sys.executable]
            spec.python = shlex.join(["sh", "-c", _SHIELD, "sh", "env", *without, *python])

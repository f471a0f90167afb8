"""The environment of the child processes of a graph database."""

from __future__ import annotations

import os
from pathlib import Path

# What Python and Java need; keys of model providers are not among them.
_INHERITED = (
    "PATH",
    "HOME",
    "LANG",
    "LC_ALL",
    "TMPDIR",
    "PYTHONPATH",
    "PYTHONHOME",
    "LD_LIBRARY_PATH",
)


def child_environment() -> dict[str, str]:
    """Return the inherited variables, and a path on which this package is found."""
    inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    root = str(Path(__file__).parents[3])
    path = os.pathsep.join(filter(None, (root, inherited.get("PYTHONPATH"))))
    return {**inherited, "PYTHONPATH": path}

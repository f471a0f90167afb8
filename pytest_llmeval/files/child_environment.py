"""The environment of child processes that work on what a model or a task wrote."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from pytest_llmeval.files.redaction import is_secret_name

_INHERITED: Final = (
    *("PATH", "HOME", "LANG", "LC_", "TMP", "TEMP", "PYTHON", "VIRTUAL_ENV", "CONDA"),
    *("LD_", "DYLD_", "COVERAGE", "SYSTEMROOT", "APPDATA", "USERPROFILE"),
)
"""Prefixes of the environment variables that a child inherits: those that Python and Java need."""


def child_environment() -> dict[str, str]:
    """Return the inherited variables, and a PYTHONPATH on which this package is found.

    No variable is among them whose name marks its value as a key, token or password.
    """
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name.upper().startswith(_INHERITED) and not is_secret_name(name)
    }
    root = str(Path(__file__).parents[2])
    path = os.pathsep.join(filter(None, (root, inherited.get("PYTHONPATH"))))
    return {**inherited, "PYTHONPATH": path}

"""What the package's domains bring: names of solvers, scorers and so on, options and commands.

They stand in a file of the same form as entry points, because a checkout that is not installed has
no entry points, and because no module outside a domain may import one.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources

from iniconfig import IniConfig


def domain_names(section: str) -> Mapping[str, str]:
    """Return the names in one section, such as ``pytest_llmeval.solvers``, and what they mean."""
    return _parsed().get(section, {})


@cache
def _parsed() -> Mapping[str, Mapping[str, str]]:
    names = resources.files("pytest_llmeval.domains").joinpath("entry_points.txt")
    # What pytest reads its own files with, so every session has imported it.
    found = IniConfig(names.name, data=names.read_text("utf-8"))
    return {one.name: dict(one.items()) for one in found}

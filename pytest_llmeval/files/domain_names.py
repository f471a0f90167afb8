"""What the package's domains bring: names of solvers, scorers and so on, options and commands.

They stand in a file of the same form as entry points, because a checkout that is not installed has
no entry points, and because no module outside a domain may import one.
"""

from __future__ import annotations

import configparser
from collections.abc import Mapping
from functools import cache
from importlib import resources


def domain_names(section: str) -> Mapping[str, str]:
    """Return the names in one section, such as ``pytest_llmeval.solvers``, and what they mean."""
    parser = _parsed()
    return parser[section] if parser.has_section(section) else {}


@cache
def _parsed() -> configparser.ConfigParser:
    parser = configparser.ConfigParser(delimiters=("=",), interpolation=None)
    parser.optionxform = str  # type: ignore[assignment, method-assign]  # keeps upper case
    names = resources.files("pytest_llmeval.domains").joinpath("entry_points.txt")
    parser.read_string(names.read_text("utf-8"))
    return parser

"""Reading of pytest's ini file without pytest, for the command line ``llmeval``."""

from __future__ import annotations

import configparser
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from pytest_llmeval.safety.regular_files import read_regular

_MAX_BYTES: Final = 10_000_000

_FILES = ("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini")
"""The files that pytest looks for, in its order, in the current folder and its parents."""


@dataclass(frozen=True, slots=True)
class Ini:
    """The content of an ini file.

    Attributes:
        root: the folder of the file.
        keys: the keys of pytest's section that hold texts.
    """

    root: Path
    keys: Mapping[str, str] = field(default_factory=dict)


def find_ini(folder: Path) -> Ini:
    """Return the first ini file with a section for pytest, in `folder` or its parents.

    Without one the keys are empty. A file that cannot be parsed is skipped; pytest reports it.
    """
    for parent in (folder, *folder.parents):
        for name in _FILES:
            keys = _keys(parent / name)
            if keys is not None:
                return Ini(parent, keys)
    return Ini(folder)


def _keys(file: Path) -> dict[str, str] | None:
    """Return the keys of pytest's section in a file; None if it has no such section."""
    try:
        text = read_regular(file, max_bytes=_MAX_BYTES).decode()
        if file.suffix == ".toml":
            return _toml_keys(tomllib.loads(text), whole=file.name != "pyproject.toml")
        parser = configparser.ConfigParser(interpolation=None)
        parser.read_string(text)
    except (OSError, ValueError, configparser.Error):
        return None
    if parser.has_section("pytest"):
        return dict(parser["pytest"])
    return {} if file.name.endswith("pytest.ini") else None


def _toml_keys(data: Mapping[str, object], *, whole: bool) -> dict[str, str] | None:
    found: object = data.get("pytest") if whole else data.get("tool")
    if not whole and isinstance(found, dict):
        found = found.get("pytest")
        if isinstance(found, dict):
            found = found.get("ini_options", found)
    if not isinstance(found, dict):
        return None
    return {name: value for name, value in found.items() if isinstance(value, str)}

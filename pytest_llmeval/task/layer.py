"""Layers of a task's values: its own file, the files that it extends, and a variant."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pytest_llmeval.files.yaml import YamlDocument
from pytest_llmeval.records import Json

_NAMED: Final = ("solver", "scorer")
"""Keys whose mapping is a name with its options; another name replaces all of it."""

_OWN_CODE: Final = re.compile(r"(?P<file>\.{1,2}/.+\.py):(?P<name>\w+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """A part of a file that holds values of a task.

    Attributes:
        file: the file.
        document: its parsed content.
        at: the keys below which the values stand; () for the whole file.
    """

    file: Path
    document: YamlDocument
    at: tuple[str, ...] = ()

    def depth(self, place: Sequence[str | int]) -> int:
        """Return how many of the keys of `place` lead to something here."""
        value = self.document.value
        for number, part in enumerate((*self.at, *place)):
            is_known = (isinstance(value, dict) and part in value) or (
                isinstance(value, list) and isinstance(part, int) and part < len(value)
            )
            if not is_known:
                return max(0, number - len(self.at))
            value = value[part]  # type: ignore[index]  # checked above
        return len(place)

    def below(self, name: str) -> Layer:
        """Return the layer of a variant in the same file."""
        return Layer(file=self.file, document=self.document, at=("variants", name))


def merged(base: Mapping[str, Json], over: Mapping[str, Json]) -> dict[str, Json]:
    """Return `base` with the values of `over`: mappings are merged, anything else is replaced."""
    result = dict(base)
    for key, value in over.items():
        below = result.get(key)
        is_same = isinstance(value, dict) and isinstance(below, dict)
        if key in _NAMED and is_same and list(value) != list(below):  # type: ignore[arg-type]
            is_same = False
        result[key] = merged(below, value) if is_same else value  # type: ignore[arg-type]
    return result


def rebased(value: Json, source: Path, folder: Path) -> Json:
    """Return a value of a file in the folder `source` for a task in `folder`.

    References to functions in files, ``./scorers.py:mine``, lead to the same files.
    """
    if isinstance(value, str):
        return _rebased(value, source, folder)
    if isinstance(value, list):
        return [rebased(one, source, folder) for one in value]
    if isinstance(value, dict):
        return {
            _rebased(key, source, folder): rebased(one, source, folder)
            for key, one in value.items()
        }
    return value


def _rebased(text: str, source: Path, folder: Path) -> str:
    if (found := _OWN_CODE.fullmatch(text)) is None:
        return text
    file = os.path.relpath(source / found["file"], folder)
    return f"{file if file.startswith('..') else f'./{file}'}:{found['name']}"

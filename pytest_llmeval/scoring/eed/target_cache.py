"""Simplified targets on disk: what a later process need not work out again.

One small file a target, known by the hash of mode, text and versions. A file that is missing,
broken, foreign or from another version is worked out anew and replaced; one that cannot be written
costs nothing but time.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Final

import sympy

from pytest_llmeval.records import Json
from pytest_llmeval.scoring.eed import expression_json
from pytest_llmeval.scoring.eed.result import GRADERS, Mode

_FORMAT: Final = 1
"""Changes with the form of the files."""


@dataclass(frozen=True, slots=True)
class TargetCache:
    """A folder of simplified targets, which any number of processes may share."""

    folder: Path

    def load(self, mode: Mode, text: str) -> tuple[sympy.Expr, ...] | None:
        """Return the expressions saved for a target, None when there are none that can be trusted."""
        try:
            saved = json.loads(self._file(mode, text).read_text(encoding="utf-8"))
            if saved["key"] != _key(mode, text) or saved["sha256"] != _digest(saved["expressions"]):
                return None
            return tuple(expression_json.from_json(data) for data in saved["expressions"])
        except Exception:  # noqa: BLE001 - whatever is wrong with a file, the target is worked out anew
            return None

    def save(self, mode: Mode, text: str, expressions: Sequence[sympy.Expr]) -> None:
        """Keep the expressions for a target; not those that have no JSON form (sums, integrals, relations)."""
        with suppress(Exception):  # whatever cannot be written is worked out again the next time
            written = [expression_json.to_json(expression) for expression in expressions]
            saved: Json = {
                "key": [*_key(mode, text)],
                "expressions": [*written],
                "sha256": _digest([*written]),
            }
            _replace(self._file(mode, text), json.dumps(saved))

    def _file(self, mode: Mode, text: str) -> Path:
        return self.folder / f"{_digest([*_key(mode, text)])}.json"


def _key(mode: Mode, text: str) -> list[str]:
    return [*_versions(), GRADERS[mode], text]


@cache
def _versions() -> tuple[str, ...]:
    """Return what decides the form of a simplified target, besides its text."""
    return (
        f"format {_FORMAT}",
        f"sympy {sympy.__version__}",
        f"latex2sympy {version('latex2sympy2_extended')}",
    )


def _digest(data: Json) -> str:
    return hashlib.sha256(json.dumps(data).encode()).hexdigest()


def _replace(file: Path, text: str) -> None:
    """Write a file under another name, then put it in place: readers see all of it or nothing."""
    descriptor, temporary = tempfile.mkstemp(dir=file.parent, suffix=".tmp")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as open_file:
            open_file.write(text)
        Path(temporary).replace(file)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise

"""Reading hand-written YAML value by value; errors name file, line and key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from pytest_llmeval.errors import TaskError
from pytest_llmeval.files.yaml import YamlDocument, parse_yaml
from pytest_llmeval.records import Json

LARGEST = 1e15
"""Larger numbers are typing errors, or integers that no float can hold."""

SHARES = frozenset({"accuracy", "accuracy_corrected", "coverage"})
"""Metrics in 0..1, which are easily written in per cent by mistake."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """One document. The path to a value is its keys and its places in lists."""

    file: Path | str
    document: YamlDocument

    @classmethod
    def parse(cls, text: str, file: Path | str) -> Checked:
        """Parse the text; errors name `file` as its source."""
        return cls(file=file, document=parse_yaml(text, file))

    @property
    def root(self) -> Json:
        """The whole document; an empty one is an empty mapping."""
        return {} if self.document.value is None else self.document.value

    def mapping(
        self, path: Sequence[str | int], value: Json, allowed: Sequence[str] = ()
    ) -> dict[str, Json]:
        """Return a mapping whose keys are among `allowed` (empty: any)."""
        if not isinstance(value, dict):
            self.refuse(path, f"expected a mapping, not {value!r}")
        for key in value:
            if allowed and key not in allowed:
                self.refuse([*path, key], f"unknown key; expected one of {', '.join(allowed)}")
        return value

    def number(self, path: Sequence[str | int], value: Json, metric: str) -> float:
        """Return a value of `metric`."""
        if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > LARGEST:
            self.refuse(path, f"expected a number, not {value!r}")
        if metric in SHARES and not 0 <= value <= 1:
            self.refuse(path, f"{value:g} is not in 0..1, the scale of {metric}")
        return float(value)

    def refuse(self, path: Sequence[str | int], problem: str) -> NoReturn:
        """Raise the TaskError for the value at `path`."""
        key = ".".join(map(str, path)) or None
        raise TaskError(problem, file=self.file, line=self.document.line(path), key=key)

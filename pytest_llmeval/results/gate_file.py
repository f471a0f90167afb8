"""The YAML form of a gate, and what is said about a wrong one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from pytest_llmeval.errors import TaskError
from pytest_llmeval.records import Json
from pytest_llmeval.results.gate import Bounds, Gate, Rule, metric_name
from pytest_llmeval.yaml_file import YamlDocument, parse_yaml, read_text

MAX_BYTES = 1_000_000
"""Largest gate file that is read."""

_LARGEST = 1e15
"""Larger bounds are typing errors, and integers that no float can hold."""

_TOP = ("recorded", "cached", "coverage", "rules")
_BOUNDS = ("min", "max")
_WORDS = ("allowed", "refused")
_SHARES = frozenset({"accuracy", "coverage"})


def load_gate(path: Path) -> Gate:
    """Return the gate in a YAML file; TaskError names file, line, key and the allowed values."""
    return parse_gate(read_text(path, max_bytes=MAX_BYTES), path)


def parse_gate(text: str, file: Path | str) -> Gate:
    """Return the gate written in `text`, which `file` is named as the source of."""
    return _Reader(file=file, document=parse_yaml(text, file)).gate()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reader:
    """Reads one document; a path is the keys that lead to a value."""

    file: Path | str
    document: YamlDocument

    def gate(self) -> Gate:
        top = self._mapping([], {} if self.document.value is None else self.document.value, _TOP)
        return Gate(
            rules=tuple(
                self._rule(name, body) for name, body in self._mapping(["rules"], top.get("rules", {})).items()
            ),
            coverage=self._number(["coverage"], top.get("coverage", 1), "coverage"),
            recorded_allowed=self._allowed(["recorded"], top.get("recorded", "refused")),
            cached_allowed=self._allowed(["cached"], top.get("cached", "refused")),
        )

    def _rule(self, name: str, body: Json) -> Rule:
        path = ["rules", name]
        task, _, metric = name.rpartition(".")
        if not (task and metric):
            self._refuse(path, "a rule is named TASK.METRIC, such as phybench.accuracy")
        metric = metric_name(metric)
        ends = {
            end: self._number([*path, end], bound, metric) for end, bound in self._mapping(path, body, _BOUNDS).items()
        }
        bounds = Bounds(minimum=ends.get("min"), maximum=ends.get("max"))
        if not ends:
            self._refuse(path, "needs min, max or both")
        if bounds.minimum is not None and bounds.maximum is not None and bounds.minimum > bounds.maximum:
            self._refuse(path, f"min {bounds.minimum:g} is above max {bounds.maximum:g}")
        return Rule(task=task, metric=metric, bounds=bounds)

    def _mapping(self, path: Sequence[str], value: Json, allowed: Sequence[str] = ()) -> dict[str, Json]:
        """Return a mapping whose keys are among `allowed` (empty: any)."""
        if not isinstance(value, dict):
            self._refuse(path, f"expected a mapping, not {value!r}")
        for key in value:
            if allowed and key not in allowed:
                self._refuse([*path, key], f"unknown key; expected one of {', '.join(allowed)}")
        return value

    def _number(self, path: Sequence[str], value: Json, metric: str) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > _LARGEST:
            self._refuse(path, f"expected a number, not {value!r}")
        if metric in _SHARES and not 0 <= value <= 1:
            self._refuse(path, f"{value:g} is not in 0..1, the scale of {metric}")
        return float(value)

    def _allowed(self, path: Sequence[str], value: Json) -> bool:
        if value not in _WORDS:
            self._refuse(path, f"expected {' or '.join(_WORDS)}, not {value!r}")
        return value == "allowed"

    def _refuse(self, path: Sequence[str], problem: str) -> NoReturn:
        raise TaskError(problem, file=self.file, line=self.document.line(path), key=".".join(path) or None)

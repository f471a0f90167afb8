"""The YAML form of a gate."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pytest_llmeval.records import Json
from pytest_llmeval.results.checked import Checked
from pytest_llmeval.results.gate import Bounds, Gate, Rule
from pytest_llmeval.results.summary import metric_name
from pytest_llmeval.yaml_file import read_text

MAX_BYTES = 1_000_000
"""Largest gate file that is read."""

_TOP = ("recorded", "cached", "coverage", "rules")
_BOUNDS = ("min", "max")
_WORDS = ("allowed", "refused")


def load_gate(path: Path) -> Gate:
    """Return the gate in a YAML file; TaskError names file, line, key and the allowed values."""
    return parse_gate(read_text(path, max_bytes=MAX_BYTES), path)


def parse_gate(text: str, file: Path | str) -> Gate:
    """Return the gate written in `text`, which `file` is named as the source of."""
    document = Checked.parse(text, file)
    top = document.mapping([], document.root, _TOP)
    rules = document.mapping(["rules"], top.get("rules", {}))
    return Gate(
        rules=tuple(_rule(document, name, body) for name, body in rules.items()),
        coverage=document.number(["coverage"], top.get("coverage", 1), "coverage"),
        recorded_allowed=_allowed(document, ["recorded"], top.get("recorded", "refused")),
        cached_allowed=_allowed(document, ["cached"], top.get("cached", "refused")),
    )


def _rule(document: Checked, name: str, body: Json) -> Rule:
    path = ["rules", name]
    task, _, metric = name.rpartition(".")
    if not (task and metric):
        document.refuse(path, "a rule is named TASK.METRIC, such as phybench.accuracy")
    metric = metric_name(metric)
    found = document.mapping(path, body, _BOUNDS)
    ends = {end: document.number([*path, end], bound, metric) for end, bound in found.items()}
    bounds = Bounds(minimum=ends.get("min"), maximum=ends.get("max"))
    if not ends:
        document.refuse(path, "needs min, max or both")
    if bounds.minimum is not None and bounds.maximum is not None and bounds.minimum > bounds.maximum:
        document.refuse(path, f"min {bounds.minimum:g} is above max {bounds.maximum:g}")
    return Rule(task=task, metric=metric, bounds=bounds)


def _allowed(document: Checked, path: Sequence[str], value: Json) -> bool:
    if value not in _WORDS:
        document.refuse(path, f"expected {' or '.join(_WORDS)}, not {value!r}")
    return value == "allowed"

"""The YAML form of a gate."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pytest_llmeval.files.yaml import read_text
from pytest_llmeval.records import Json
from pytest_llmeval.results.checked import SHARES, Checked
from pytest_llmeval.results.gate import ACCURACY_CORRECTED, Bounds, ChangeRule, Gate, Rule, Step
from pytest_llmeval.results.task_info import metric_name

MAX_BYTES = 1_000_000
"""Largest gate file that is read."""

_TOP = (
    *("recorded", "cached", "stand_in", "coverage", "compared"),
    *("significance", "inconclusive", "rules"),
)
_BOUNDS = ("min", "max")
_STEPS = ("max_drop", "max_rise")
_PERMISSIONS = ("allowed", "refused")
_ENDINGS = ("pass", "fail")
_NO_STEPS = (
    "takes min and max only: both runs share the errors that were measured, so the interval of "
    "their difference is not that of two separate figures; write max_drop for the accuracy"
)
_PER_CENT = re.compile(r"(\d+(?:\.\d+)?) ?%")


def load_gate(path: Path) -> Gate:
    """Return the gate in a YAML file; TaskError names file, line, key and the allowed values."""
    return parse_gate(read_text(path, max_bytes=MAX_BYTES), path)


def parse_gate(text: str, file: Path | str) -> Gate:
    """Return the gate in `text`; errors name `file` as its source."""
    document = Checked.parse(text, file)
    top = document.mapping([], document.root, _TOP)
    bodies = document.mapping(["rules"], top.get("rules", {}))
    rules = [rule for name, body in bodies.items() for rule in _rules(document, name, body)]
    significance = document.number(["significance"], top.get("significance", 0.05), "significance")
    if not 0 < significance < 1:
        document.refuse(["significance"], f"{significance:g} is not between 0 and 1")
    return Gate(
        rules=tuple(rule for rule in rules if isinstance(rule, Rule)),
        changes=tuple(rule for rule in rules if isinstance(rule, ChangeRule)),
        coverage=document.number(["coverage"], top.get("coverage", 1), "coverage"),
        compared=document.number(["compared"], top.get("compared", 1), "coverage"),
        significance=significance,
        inconclusive_passes=_word(
            document, ["inconclusive"], top.get("inconclusive", "fail"), _ENDINGS
        )
        == "pass",
        recorded_allowed=_allows(document, top, "recorded"),
        cached_allowed=_allows(document, top, "cached"),
        stand_in_allowed=_allows(document, top, "stand_in"),
    )


def _rules(document: Checked, name: str, body: Json) -> Iterator[Rule | ChangeRule]:
    """Yield the rule on the run alone and the rule against the baseline that a body holds."""
    path = ["rules", name]
    # The name of a score may hold a dot (judge.accuracy), that of a task none.
    task, _, metric = name.partition(".")
    if not (task and metric):
        document.refuse(path, "a rule is named TASK.METRIC, such as mytask.accuracy")
    metric = metric_name(metric)
    found = document.mapping(path, body, (*_BOUNDS, *_STEPS, "samples", "point"))
    samples = int(document.number([*path, "samples"], found.get("samples", 0), "samples"))
    point = found.get("point", False)
    if not isinstance(point, bool):
        document.refuse([*path, "point"], f"expected true or false, not {point!r}")
    ends = {
        end: document.number([*path, end], found[end], metric) for end in _BOUNDS if end in found
    }
    steps = {
        step: _step(document, [*path, step], found[step], metric)
        for step in _STEPS
        if step in found
    }
    if steps and metric == ACCURACY_CORRECTED:
        document.refuse(path, _NO_STEPS)
    if not ends and not steps:
        document.refuse(path, f"needs {', '.join((*_BOUNDS, *_STEPS[:-1]))} or {_STEPS[-1]}")
    if ends:
        bounds = _bounds(document, path, ends)
        yield Rule(task=task, metric=metric, bounds=bounds, samples=samples, point=point)
    if steps:
        allowed = Bounds(max_drop=steps.get("max_drop"), max_rise=steps.get("max_rise"))
        yield ChangeRule(task=task, metric=metric, bounds=allowed, samples=samples, point=point)


def _bounds(document: Checked, path: Sequence[str], ends: Mapping[str, float]) -> Bounds:
    bounds = Bounds(minimum=ends.get("min"), maximum=ends.get("max"))
    if (
        bounds.minimum is not None
        and bounds.maximum is not None
        and bounds.minimum > bounds.maximum
    ):
        document.refuse(path, f"min {bounds.minimum:g} is above max {bounds.maximum:g}")
    return bounds


def _step(document: Checked, path: Sequence[str], value: Json, metric: str) -> Step:
    """Return a step in the metric's scale, or ``10 %`` of the baseline's value."""
    if not isinstance(value, str):
        amount = document.number(path, value, metric)
        if amount < 0:
            document.refuse(path, f"{amount:g} is below 0: a step has no sign")
        return Step(amount=amount)
    share = _PER_CENT.fullmatch(value)
    if share is None:
        document.refuse(path, f"expected a number, or such as 10 %, not {value!r}")
    if metric in SHARES:
        document.refuse(
            path,
            f"{value} of a share is ambiguous; 0.03 stands for three percentage points of {metric}",
        )
    return Step(amount=float(share[1]) / 100, relative=True)


def _allows(document: Checked, top: Mapping[str, Json], what: str) -> bool:
    return _word(document, [what], top.get(what, "refused"), _PERMISSIONS) == "allowed"


def _word(document: Checked, path: Sequence[str], value: Json, words: Sequence[str]) -> str:
    if not isinstance(value, str) or value not in words:
        document.refuse(path, f"expected {' or '.join(words)}, not {value!r}")
    return value

"""The result of a gate as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from pytest_llmeval.report.clean import clean
from pytest_llmeval.report.numbers import NONE
from pytest_llmeval.report.sheet import ALWAYS, Block, Cell, Column, Label, Sheet, Tone, column_of
from pytest_llmeval.results.gate_result import GateResult, RuleResult

_REASON_LIMIT = 400

_TONES: Final[Mapping[str, Tone]] = {"pass": "good", "fail": "bad"}

_VALUE, _BOUND, _BASELINE = 1, 2, 3
"""Ranks, the most important one first."""


def gate_sheet(result: GateResult) -> Sheet:
    """Return a line for each rule, and the reasons of those that did not pass."""
    return _sheet(result, result.results)


def unmet_sheet(result: GateResult) -> Sheet:
    """Return a line for each rule that did not pass; no table if all did."""
    return _sheet(result, [one for one in result.results if one.status != "pass"])


def _sheet(result: GateResult, shown: Sequence[RuleResult]) -> Sheet:
    tone: Tone = "good" if result.passed else "bad"
    units = (
        (
            *_baseline(shown),
            column_of("value", [_value(one.value) for one in shown], "strong", rank=_VALUE),
            column_of("bound", [str(one.bounds) for one in shown], "quiet", rank=_BOUND),
            Column(head="result", cells=tuple(_status(one) for one in shown), rank=ALWAYS),
        ),
    )
    labels = tuple(Label(text=_name(one, result)) for one in shown)
    notes = tuple(
        f"{_name(one, result)}: {clean(one.reason, _REASON_LIMIT)}"
        for one in shown
        if one.status != "pass"
    )
    blocks = (Block(head="rule", labels=labels, units=units),) if shown else ()
    return Sheet(title=_title(result), tone=tone, blocks=blocks, notes=notes)


def _title(result: GateResult) -> str:
    """Return whether the gate passed, and how many of its rules did."""
    rules = len(result.results)
    if not rules:
        return "gate not passed: the run holds no rows to judge"
    passed = sum(one.status == "pass" for one in result.results)
    if result.passed:
        some = f"{passed:,} of " if passed < rules else ""
        return f"gate passed: {some}{rules:,} rule{'s' * (rules != 1)}"
    return f"gate not passed: {len(result.unmet):,} of {rules:,} rules"


def _name(one: RuleResult, result: GateResult) -> str:
    name = clean(f"{one.task}.{one.metric}")
    several = len({other.model for other in result.results if other.model}) > 1
    return f"{name} · {clean(one.model)}" if several and one.model else name


def _baseline(results: Sequence[RuleResult]) -> tuple[Column, ...]:
    """Return the column of the baseline's values, if there are any."""
    if all(one.baseline is None for one in results):
        return ()
    baseline = [_value(one.baseline) for one in results]
    return (column_of("baseline", baseline, "quiet", rank=_BASELINE),)


def _value(value: float | None) -> str:
    return NONE if value is None else f"{value:.4g}" if value % 1 else f"{value:,.0f}"


def _status(one: RuleResult) -> Cell:
    return Cell(text=one.status, tone=_TONES.get(one.status, "warning"))

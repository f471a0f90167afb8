"""The result of a gate as a table."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_llmeval.report.clean import clean
from pytest_llmeval.report.numbers import NONE
from pytest_llmeval.report.sheet import Block, Cell, Column, Label, Sheet, column_of
from pytest_llmeval.results.gate_result import GateResult, RuleResult

_REASON_LIMIT = 400


def gate_sheet(result: GateResult) -> Sheet:
    """Return a line for each rule, and the reasons of those that did not pass."""
    results = result.results
    failed = [one for one in results if one.status != "pass"]
    if not results:
        return Sheet(title="gate not passed: the run holds no rows to judge", blocks=())
    title = (
        "gate passed"
        if result.passed
        else f"gate not passed: {len(result.unmet)} of {len(results)} rules"
    )
    units = (
        (
            *_baseline(results),
            column_of("value", [_value(one.value) for one in results], "strong"),
            column_of("bound", [str(one.bounds) for one in results], "quiet"),
            Column(head="result", cells=tuple(_status(one) for one in results)),
        ),
    )
    labels = tuple(Label(text=_name(one, result)) for one in results)
    notes = tuple(f"{_name(one, result)}: {clean(one.reason, _REASON_LIMIT)}" for one in failed)
    return Sheet(title=title, blocks=(Block(labels=labels, units=units),), notes=notes)


def _name(one: RuleResult, result: GateResult) -> str:
    name = clean(f"{one.task}.{one.metric}")
    several = len({other.model for other in result.results if other.model}) > 1
    return f"{name} · {clean(one.model)}" if several and one.model else name


def _baseline(results: Sequence[RuleResult]) -> tuple[Column, ...]:
    """Return the column of the baseline's values, if there are any."""
    if all(one.baseline is None for one in results):
        return ()
    return (column_of("baseline", [_value(one.baseline) for one in results], "quiet"),)


def _value(value: float | None) -> str:
    return NONE if value is None else f"{value:.4g}" if value % 1 else f"{value:,.0f}"


def _status(one: RuleResult) -> Cell:
    return Cell(text=one.status, tone="plain" if one.status == "pass" else "warning")

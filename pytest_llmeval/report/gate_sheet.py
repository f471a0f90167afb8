"""What is said of a gate's verdict."""

from __future__ import annotations

from pytest_llmeval.report.clean import clean
from pytest_llmeval.report.numbers import NONE
from pytest_llmeval.report.sheet import Block, Cell, Column, Label, Sheet
from pytest_llmeval.results.gate import GateResult, RuleResult

_REASON_LIMIT = 400


def gate_sheet(result: GateResult) -> Sheet:
    """Return the verdict as its title, a line for each rule and the reasons of those that did not pass."""
    results = result.results
    unmet = [one for one in results if one.verdict != "pass"]
    if not results:
        return Sheet(title="gate not passed: the run holds no rows to judge", blocks=())
    title = "gate passed" if result.passed else f"gate not passed: {len(unmet)} of {len(results)} rules"
    units = (
        (
            Column(head="value", cells=tuple(Cell(text=_value(one), tone="strong") for one in results)),
            Column(head="bound", cells=tuple(Cell(text=str(one.bounds), tone="quiet") for one in results)),
            Column(head="verdict", cells=tuple(_verdict(one) for one in results)),
        ),
    )
    labels = tuple(Label(text=_name(one, result)) for one in results)
    notes = tuple(f"{_name(one, result)}: {clean(one.reason, _REASON_LIMIT)}" for one in unmet)
    return Sheet(title=title, blocks=(Block(labels=labels, units=units),), notes=notes)


def _name(one: RuleResult, result: GateResult) -> str:
    name = clean(f"{one.task}.{one.metric}")
    several = len({other.model for other in result.results if other.model}) > 1
    return f"{name} · {clean(one.model)}" if several and one.model else name


def _value(one: RuleResult) -> str:
    return NONE if one.value is None else f"{one.value:.4g}" if one.value % 1 else f"{one.value:,.0f}"


def _verdict(one: RuleResult) -> Cell:
    return Cell(text=one.verdict, tone="plain" if one.verdict == "pass" else "warning")

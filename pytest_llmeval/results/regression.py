"""A run under a gate that holds it against a baseline: how far figures moved, and whether so many samples can tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import Final

from pytest_llmeval.results.baseline import Baseline, figures_of
from pytest_llmeval.results.compare import Change, Comparison, Pair, Part
from pytest_llmeval.results.gate import (
    JUDGE,
    Allowance,
    Bounds,
    ChangeRule,
    Gate,
    GateResult,
    RuleResult,
    Verdict,
    check,
)
from pytest_llmeval.results.summary import Summary, TaskSummary, metric_name

TOTALS: Final = frozenset({"tokens", "cost", "seconds"})
"""Sums over the samples, which say nothing of another number of samples."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Standing:
    """One part of a run beside its counterpart in the baseline: the pair of samples, and the figures of both."""

    entry: TaskSummary
    pair: Pair
    now: dict[str, float | None]
    before: dict[str, float | None]


def check_against(
    gate: Gate, summary: Summary, baseline: Baseline, comparison: Comparison
) -> GateResult:
    """Judge a run under all rules; `comparison` is that of the baseline (a) with it (b), at the gate's significance."""
    result = check(gate, summary)
    standings = dict(_standings(summary, baseline, comparison))
    tasks = {rule.task for rule in gate.changes}
    wanted = (
        standing for part, standing in standings.items() if part.task in tasks or JUDGE in tasks
    )
    overlaps = (_overlap(gate, standing) for standing in wanted)
    changes = (found for rule in gate.changes for found in _results(rule, gate, summary, standings))
    return replace(result, results=(*result.results, *overlaps, *changes))


def _standings(
    summary: Summary, baseline: Baseline, comparison: Comparison
) -> Iterator[tuple[Part, _Standing]]:
    """Yield the parts of a run that have a counterpart in the baseline."""
    pairs = {Part(pair.task, pair.test, pair.model_b): pair for pair in comparison.pairs}
    for entry in summary.entries:
        part = _part(entry)
        if part in pairs:
            pair = pairs[part]
            before = baseline.metrics.get(Part(pair.task, pair.test, pair.model_a), {})
            yield (
                part,
                _Standing(entry=entry, pair=pair, now=figures_of(entry), before=dict(before)),
            )


def _part(entry: TaskSummary) -> Part:
    return Part(entry.task, entry.test, entry.model)


def _overlap(gate: Gate, standing: _Standing) -> RuleResult:
    """Judge how many of the baseline's samples the run scored too: what was left out may be what got worse."""
    pair = standing.pair
    of_baseline = pair.n + pair.only_a + pair.retargeted
    share = pair.n / of_baseline if of_baseline else 0.0
    bounds = Bounds(minimum=gate.compared)
    reason = f"{pair.n:,} of the baseline's {of_baseline:,} scored samples were scored again, with the same target"
    return RuleResult(
        task=pair.task,
        model=pair.model_b,
        metric="compared",
        value=share,
        bounds=bounds,
        verdict="pass" if bounds.hold(share) else "fail",
        reason="" if bounds.hold(share) else reason,
    )


def _results(
    rule: ChangeRule, gate: Gate, summary: Summary, standings: Mapping[Part, _Standing]
) -> Iterator[RuleResult]:
    """Yield how each part that the rule is about fared; one without a counterpart is not passed over."""
    entries = [entry for entry in summary.entries if rule.task == entry.task]
    if not entries and rule.task == JUDGE:
        entries = [entry for entry in summary.entries if entry.tally.judging is not None]
    for entry in entries:
        standing = standings.get(_part(entry))
        yield (
            _missing(rule, entry.model)
            if standing is None
            else _judged(rule, standing, gate.significance)
        )
    if not entries:
        yield _missing(rule, "")


def _missing(rule: ChangeRule, model: str) -> RuleResult:
    reason = "run and baseline have no part of this task in common (same test function, same model or a single one)"
    return _result(rule, model, "missing", reason, values=(None, None))


def _judged(rule: ChangeRule, standing: _Standing, significance: float) -> RuleResult:
    metric = f"{JUDGE}.{rule.metric}" if rule.task != standing.entry.task else rule.metric
    changes = {metric_name(change.name): change for change in standing.pair.changes}
    if metric in changes:
        verdict, reason = _by_samples(rule, changes[metric], significance)
        return _result(
            rule,
            standing.entry.model,
            verdict,
            reason,
            values=(changes[metric].b, changes[metric].a),
        )
    now, before = standing.now.get(metric), standing.before.get(metric)
    if now is None or before is None:
        where = "this run" if now is None else "the baseline"
        there = ", ".join(name for name, value in standing.now.items() if value is not None)
        reason = f"{where} has no such figure (this run has {there})"
        return _result(rule, standing.entry.model, "missing", reason, values=(now, before))
    planned = standing.now["planned"], standing.before.get("planned")
    if metric in TOTALS and planned[0] != planned[1]:
        reason = (
            f"a sum over {planned[0]} planned samples says nothing beside one over {planned[1]}"
        )
        return _result(rule, standing.entry.model, "missing", reason, values=(now, before))
    low, high = _limits(rule.allowance, before)
    met = low <= now - before <= high
    reason = "" if met else f"{now:.6g} after {before:.6g} is outside {rule.allowance}"
    return _result(
        rule, standing.entry.model, "pass" if met else "fail", reason, values=(now, before)
    )


def _by_samples(rule: ChangeRule, change: Change, significance: float) -> tuple[Verdict, str]:
    """Judge by the interval of the paired difference: a rule is met, or broken, when all of it says so."""
    low, high = _limits(rule.allowance, change.a)
    least, most = _span(change, significance)
    span = f"between {least:+.4g} and {most:+.4g}"
    if change.n < rule.samples:
        return (
            "inconclusive",
            f"{change.n:,} common samples are too few; the rule wants {rule.samples:,}",
        )
    if most < low or least > high:
        return "fail", f"it changed by {span}, which is outside {rule.allowance} (n = {change.n:,})"
    if low <= least and most <= high:
        return "pass", ""
    return (
        "inconclusive",
        f"{change.n:,} samples cannot decide: they leave a change {span}; take more, or allow more",
    )


def _span(change: Change, significance: float) -> tuple[float, float]:
    """Return the interval of a change, with 0 in it where its test does not tell it from 0.

    A bootstrap of few flips, all one way, leaves 0 out too early: of 40 samples with 4, while
    McNemar's p is 0.125.
    """
    if change.p_value is None or change.p_value <= significance:
        return change.low, change.high
    return min(change.low, 0.0), max(change.high, 0.0)


def _limits(allowance: Allowance, before: float) -> tuple[float, float]:
    """Return the lowest and the highest change that is allowed."""
    low = -inf if allowance.max_drop is None else -allowance.max_drop.beside(before)
    high = inf if allowance.max_rise is None else allowance.max_rise.beside(before)
    return low, high


def _result(
    rule: ChangeRule,
    model: str,
    verdict: Verdict,
    reason: str,
    *,
    values: tuple[float | None, float | None],
) -> RuleResult:
    """Return a rule's result; `values` are the run's and the baseline's."""
    return RuleResult(
        task=rule.task,
        model=model,
        metric=rule.metric,
        value=values[0],
        bounds=rule.allowance,
        verdict=verdict,
        reason=reason,
        baseline=values[1],
    )

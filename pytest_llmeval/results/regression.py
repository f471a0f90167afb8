"""A run under a gate with rules against a baseline: how far figures moved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from pytest_llmeval.results.allowed import more_text
from pytest_llmeval.results.baseline import Baseline
from pytest_llmeval.results.changes import Change
from pytest_llmeval.results.compare import Comparison, Pair
from pytest_llmeval.results.entry_key import EntryKey
from pytest_llmeval.results.gate import JUDGE, Bounds, ChangeRule, Gate
from pytest_llmeval.results.gate_check import check
from pytest_llmeval.results.gate_result import GateResult, RuleResult, RuleStatus
from pytest_llmeval.results.gate_values import baseline_values
from pytest_llmeval.results.regrading import UNTOUCHED, uncompared
from pytest_llmeval.results.rows import ENGINE
from pytest_llmeval.results.summary import Summary, TaskSummary
from pytest_llmeval.results.task_info import metric_name

TOTALS: Final = frozenset({"tokens", "cost", "seconds"})
"""Sums over the samples, which cannot be compared between different numbers of samples."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Counterparts:
    """One part of a run and its counterpart in the baseline.

    `pair` compares their samples; `now` and `before` are the values of the run and the baseline.
    """

    entry: TaskSummary
    pair: Pair
    now: dict[str, float | None]
    before: dict[str, float | None]


def check_against(
    gate: Gate, summary: Summary, baseline: Baseline, comparison: Comparison
) -> GateResult:
    """Return a gate's result with its rules against a baseline.

    `comparison` is that of the baseline (a) with the run (b), at the gate's significance.
    """
    result = check(gate, summary)
    counterparts = dict(_counterparts(summary, baseline, comparison))
    tasks = {rule.task for rule in gate.changes}
    wanted = (found for part, found in counterparts.items() if part.task in tasks or JUDGE in tasks)
    overlaps = (_overlap(gate, found) for found in wanted)
    changes = (
        result for rule in gate.changes for result in _results(rule, gate, summary, counterparts)
    )
    return replace(result, results=(*result.results, *overlaps, *changes))


def _counterparts(
    summary: Summary, baseline: Baseline, comparison: Comparison
) -> Iterator[tuple[EntryKey, _Counterparts]]:
    """Yield the parts of a run that have a counterpart in the baseline."""
    pairs = {EntryKey(pair.task, pair.test, pair.model_b): pair for pair in comparison.pairs}
    for entry in summary.entries:
        part = _part(entry)
        if part in pairs:
            pair = pairs[part]
            before = baseline.metrics.get(EntryKey(pair.task, pair.test, pair.model_a), {})
            yield (
                part,
                _Counterparts(
                    entry=entry, pair=pair, now=baseline_values(entry), before=dict(before)
                ),
            )


def _part(entry: TaskSummary) -> EntryKey:
    return EntryKey(entry.task, entry.test, entry.model)


def _overlap(gate: Gate, found: _Counterparts) -> RuleResult:
    """Return the result for the share of the baseline's samples that the run scored too.

    What was left out may be what got worse.
    """
    pair = found.pair
    of_baseline = pair.n + pair.only_a + pair.retargeted + pair.requestioned
    share = pair.n / of_baseline if of_baseline else 0.0
    bounds = Bounds(minimum=gate.compared)
    reason = (
        f"{pair.n:,} of the baseline's {of_baseline:,} scored samples were scored again, "
        "with the same target"
    )
    return RuleResult(
        task=pair.task,
        model=pair.model_b,
        metric="compared",
        value=share,
        bounds=bounds,
        status="pass" if share in bounds.values else "fail",
        reason="" if share in bounds.values else reason,
    )


def _results(
    rule: ChangeRule, gate: Gate, summary: Summary, counterparts: Mapping[EntryKey, _Counterparts]
) -> Iterator[RuleResult]:
    """Yield the result for each part that the rule is about, also one without a counterpart."""
    entries = [entry for entry in summary.entries if rule.task == entry.task]
    if not entries and rule.task == JUDGE:
        entries = [entry for entry in summary.entries if entry.figures.judging is not None]
    for entry in entries:
        found = counterparts.get(_part(entry))
        yield (
            _missing(rule, entry.model)
            if found is None
            else _checked(rule, found, gate.significance)
        )
    if not entries:
        yield _missing(rule, "")


def _missing(rule: ChangeRule, model: str) -> RuleResult:
    reason = (
        "run and baseline have no part of this task in common "
        "(same test function, same model or a single one)"
    )
    return _result(rule, model, "missing", reason, values=(None, None))


def _checked(rule: ChangeRule, found: _Counterparts, significance: float) -> RuleResult:
    metric = f"{JUDGE}.{rule.metric}" if rule.task != found.entry.task else rule.metric
    if (reason := uncompared(found.pair.regrading, metric)) is not None:
        return _result(rule, found.entry.model, "missing", reason, values=(None, None))
    if (reason := _other_engines(found.pair, metric)) is not None:
        return _result(rule, found.entry.model, "missing", reason, values=(None, None))
    changes = {metric_name(change.name): change for change in found.pair.changes}
    if metric in changes:
        status, reason = _by_samples(rule, changes[metric], significance)
        return _result(
            rule,
            found.entry.model,
            status,
            reason,
            values=(changes[metric].b, changes[metric].a),
        )
    now, before = found.now.get(metric), found.before.get(metric)
    if now is None or before is None:
        where = "this run" if now is None else "the baseline"
        there = ", ".join(name for name, value in found.now.items() if value is not None)
        reason = f"{where} has no such figure (this run has {there})"
        return _result(rule, found.entry.model, "missing", reason, values=(now, before))
    planned = found.now["planned"], found.before.get("planned")
    if metric in TOTALS and planned[0] != planned[1]:
        reason = (
            f"a sum over {planned[0]} planned samples cannot be compared with one over {planned[1]}"
        )
        return _result(rule, found.entry.model, "missing", reason, values=(now, before))
    met = now - before in rule.bounds.changes(before)
    reason = "" if met else f"{now:.6g} after {before:.6g} is outside {rule.bounds}"
    return _result(rule, found.entry.model, "pass" if met else "fail", reason, values=(now, before))


def _other_engines(pair: Pair, metric: str) -> str | None:
    """Return why a metric is not compared; None where one engine answered the tools of both."""
    if ENGINE not in pair.versions or metric in UNTOUCHED or metric.startswith(f"{JUDGE}."):
        return None
    then, now = pair.versions[ENGINE]
    return (
        f"engines differ ({then} then, {now} now), so that a change may be theirs: run with the "
        "baseline's engine, or make the baseline anew (llmeval baseline set RUN)"
    )


def _by_samples(rule: ChangeRule, change: Change, significance: float) -> tuple[RuleStatus, str]:
    """Return status and reason by the interval of the paired difference.

    The rule is met when all of the interval is allowed, and broken when none of it is.
    """
    if change.n < rule.samples:
        return (
            "inconclusive",
            f"{change.n:,} common samples are too few; the rule wants {rule.samples:,}",
        )
    allowed = rule.bounds.changes(change.a)
    if rule.point:
        met = change.samples.mean in allowed
        reason = f"it changed by {change.difference:+.4g}, which is outside {rule.bounds}"
        return ("pass", "") if met else ("fail", reason)
    span = f"between {change.low:+.4g} and {change.high:+.4g}"
    status = allowed.decision(change.low, change.high)
    if status == "pass":
        return status, ""
    if status == "fail":
        return status, f"it changed by {span}, which is outside {rule.bounds} (n = {change.n:,})"
    needed = allowed.samples(
        change.samples.mean,
        change.low,
        change.high,
        lambda limit: change.samples.samples_to_tell(limit, 1 - significance),
    )
    undecided = f"{change.n:,} samples cannot decide {rule.bounds}: they leave a change {span}"
    return status, f"{undecided}; {more_text(needed)}"


def _result(
    rule: ChangeRule,
    model: str,
    status: RuleStatus,
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
        bounds=rule.bounds,
        status=status,
        reason=reason,
        baseline=values[1],
    )

"""A run under the rules of a gate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pytest_llmeval.results.allowed import more_text
from pytest_llmeval.results.estimate import Estimate
from pytest_llmeval.results.figures import Figures
from pytest_llmeval.results.gate import ACCURACY_CORRECTED, JUDGE, Bounds, Gate, Rule
from pytest_llmeval.results.gate_result import GateResult, RuleResult, RuleStatus
from pytest_llmeval.results.gate_values import judge_values, rule_values
from pytest_llmeval.results.rows import ENGINE
from pytest_llmeval.results.summary import Summary, TaskSummary

_UNMEASURED = (
    "nothing is known of the scorer's errors: label answers of this run (llmeval label RUN), or "
    "validate its judge (llmeval validate)"
)


def check(gate: Gate, summary: Summary) -> GateResult:
    """Return a gate's result: conditions on every task first, then the file's rules in order."""
    conditions = (
        _checked(rule, entry, rule_values(entry.figures))
        for entry in summary.entries
        for rule in _conditions(gate, entry)
    )
    rules = (result for rule in gate.rules for result in _results(rule, summary))
    mixed = (_mixed(entry) for entry in summary.entries if entry.graders)
    return GateResult(
        results=(*conditions, *mixed, *rules), inconclusive_passes=gate.inconclusive_passes
    )


def _conditions(gate: Gate, entry: TaskSummary) -> Iterator[Rule]:
    """Yield what a gate demands of every task unless its file says otherwise."""
    own = {rule.metric for rule in gate.rules if rule.task == entry.task}
    if "coverage" not in own:
        yield Rule(task=entry.task, metric="coverage", bounds=Bounds(minimum=gate.coverage))
    if not gate.recorded_allowed:
        yield Rule(task=entry.task, metric="recorded", bounds=Bounds(maximum=0))
    if not gate.cached_allowed:
        yield Rule(task=entry.task, metric="cached", bounds=Bounds(maximum=0))
    if not gate.stand_in_allowed and ENGINE in entry.versions:
        yield Rule(task=entry.task, metric="stand_in", bounds=Bounds(maximum=0))


def _mixed(entry: TaskSummary) -> RuleResult:
    """Return the result for a task whose accuracy rests on several graders."""
    parts = ", ".join(f"{one.n:,} rows by {one.grader}" for one in entry.graders)
    return RuleResult(
        task=entry.task,
        model=entry.model,
        metric="graders",
        value=float(len(entry.graders)),
        bounds=Bounds(maximum=1),
        status="fail",
        reason=f"{parts}: score all answers by one grader: llmeval rescore RUN",
    )


def _results(rule: Rule, summary: Summary) -> Iterator[RuleResult]:
    entries = [entry for entry in summary.entries if entry.task == rule.task]
    if not entries and rule.task == JUDGE:
        yield from _judge_results(rule, summary)
        return
    yield from (_checked(rule, entry, rule_values(entry.figures)) for entry in entries)
    if not entries:
        ran = ", ".join(dict.fromkeys(entry.task for entry in summary.entries)) or "none"
        yield _result(rule, "", None, "missing", f"the task is not in this run (in it: {ran})")


def _judge_results(rule: Rule, summary: Summary) -> Iterator[RuleResult]:
    """Yield the results of a rule on the judges of a run."""
    asked = [
        (entry, found)
        for entry in summary.entries
        if (found := entry.figures.judging) and found.judges
    ]
    for entry, judging in asked:
        reason = "its judge is not validated as it was asked: llmeval validate --judge SPEC"
        known = judge_values(judging)
        yield (
            _checked(rule, entry, known)
            if known
            else _result(rule, entry.model, None, "missing", reason)
        )
    if not asked:
        yield _result(rule, "", None, "missing", "no judge was asked in this run")


def _checked(rule: Rule, entry: TaskSummary, known: Mapping[str, Estimate]) -> RuleResult:
    if rule.metric not in known and rule.metric == ACCURACY_CORRECTED:
        return _result(rule, entry.model, None, "missing", _UNMEASURED)
    if rule.metric not in known:
        reason = f"no such metric in this run (there are {', '.join(known)})"
        return _result(rule, entry.model, None, "missing", reason)
    found = known[rule.metric]
    value = found.value
    if value is None:
        return _result(rule, entry.model, None, "missing", _no_value(rule, entry.figures))
    if found.n < rule.samples:
        counted = "labelled cases" if rule.task != entry.task else "scored samples"
        reason = f"{found.n:,} {counted} are too few; the rule wants {rule.samples:,}"
        return _result(rule, entry.model, value, "inconclusive", reason)
    allowed = rule.bounds.values
    if rule.point or found.low is None or found.high is None:
        status: RuleStatus = "pass" if value in allowed else "fail"
        reason = "" if status == "pass" else _reason(rule, value, entry.figures)
        return _result(rule, entry.model, value, status, reason)
    status = allowed.decision(found.low, found.high)
    reason = "" if status == "pass" else _interval_reason(rule, found, status)
    return _result(rule, entry.model, value, status, reason)


def _no_value(rule: Rule, figures: Figures) -> str:
    """Return why there is no value."""
    if rule.metric == ACCURACY_CORRECTED and figures.accuracy_corrected is not None:
        return figures.accuracy_corrected.problem
    return "there is no value to judge"


def _interval_reason(rule: Rule, found: Estimate, status: RuleStatus) -> str:
    """Return why an interval did not pass; an inconclusive one with the samples that decide."""
    value, low, high = found.value or 0.0, found.low or 0.0, found.high or 0.0
    span = f"{value:.4g} may be {low:.4g} to {high:.4g}"
    if status == "fail":
        return f"{span}, all outside {rule.bounds} (n = {found.n:,})"
    if rule.metric == ACCURACY_CORRECTED:
        # How much of its width more samples would take away is not known.
        return f"{rule.bounds} cannot be decided: {span}; label more answers, or run more samples"
    needed = rule.bounds.values.samples(value, low, high, found.samples_to_tell)
    return f"{found.n:,} samples cannot decide {rule.bounds}: {span}; {more_text(needed)}"


def _reason(rule: Rule, value: float, figures: Figures) -> str:
    match rule.metric:
        case "coverage":
            counts = figures.counts
            parts = {"error": counts.error, "unscored": counts.unscored, "not run": counts.not_run}
            lost = ", ".join(f"{number} {name}" for name, number in parts.items() if number)
            return f"{counts.scored} of {counts.planned} planned samples were scored ({lost})"
        case "recorded" | "cached" | "stand_in":
            return (
                f"{value:.0f} rows rest on {_source(rule.metric, figures)}, which only "
                f"`{rule.metric}: allowed` in the gate file permits"
            )
        case _:
            return f"{value:.6g} is outside {rule.bounds}"


def _source(metric: str, figures: Figures) -> str:
    if metric == "stand_in":
        names = ", ".join(one.engines for one in figures.stand_ins)
        return f"tools that others answered than the task is made for ({names})"
    return "recorded replies" if metric == "recorded" else "answers of other runs"


def _result(
    rule: Rule, model: str, value: float | None, status: RuleStatus, reason: str
) -> RuleResult:
    return RuleResult(
        task=rule.task,
        model=model,
        metric=rule.metric,
        value=value,
        bounds=rule.bounds,
        status=status,
        reason=reason,
    )

"""A gate: rules that a run must meet, and how a run fared under them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from pytest_llmeval.records import Json
from pytest_llmeval.results.summary import Counts, Judging, Summary, Tally, TaskSummary, metric_name
from pytest_llmeval.results.wire import dumped, loaded

Verdict: TypeAlias = Literal["pass", "fail", "inconclusive", "missing"]
"""``inconclusive``: so few samples cannot decide.

``missing``: there is nothing to judge by, such as no such metric.
"""


JUDGE = "judge"
"""What a rule names in a task's place when it is about the judge (``judge.kappa``); a task of that
name goes first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Lowest and highest value allowed, both included, in the metric's own scale."""

    minimum: float | None = None
    maximum: float | None = None

    def __str__(self) -> str:
        """Return ``min 0.5``, ``max 3``, or both."""
        ends = {"min": self.minimum, "max": self.maximum}
        return ", ".join(f"{name} {value:g}" for name, value in ends.items() if value is not None)

    def hold(self, value: float) -> bool:
        """Whether the value lies within."""
        return (self.minimum is None or value >= self.minimum) and (
            self.maximum is None or value <= self.maximum
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """How far a value may move: in the metric's own scale, or as a share of the baseline's value."""

    amount: float
    relative: bool = False

    def __str__(self) -> str:
        """Return ``0.03`` or ``10 %``."""
        return f"{100 * self.amount:g} %" if self.relative else f"{self.amount:g}"

    def beside(self, baseline: float) -> float:
        """Return the step in the metric's scale."""
        return self.amount * abs(baseline) if self.relative else self.amount


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """How far a metric may fall below the baseline's value, or rise above it."""

    max_drop: Step | None = None
    max_rise: Step | None = None

    def __str__(self) -> str:
        """Return ``max_drop 0.03``, ``max_rise 10 %``, or both."""
        ends = {"max_drop": self.max_drop, "max_rise": self.max_rise}
        return ", ".join(f"{name} {step}" for name, step in ends.items() if step is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Bounds on one metric of one task; each of its models must meet them, seen on `samples` scored ones or more."""

    task: str
    metric: str
    bounds: Bounds
    samples: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRule:
    """How far one metric of one task may move away from the baseline's; it holds for each of its models."""

    task: str
    metric: str
    allowance: Allowance
    samples: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """A gate file.

    Without words of its own it demands full coverage and live answers of this very run.

    `changes` are judged at the level `significance`, over at least the share `compared` of the
    baseline's samples. `inconclusive_passes`: what becomes of rules that so few samples cannot
    decide.
    """

    rules: tuple[Rule, ...] = ()
    changes: tuple[ChangeRule, ...] = ()
    coverage: float = 1.0
    compared: float = 1.0
    significance: float = 0.05
    inconclusive_passes: bool = False
    recorded_allowed: bool = False
    cached_allowed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleResult:
    """How one rule fared on one task under one model; `reason` says why it is not a pass.

    `baseline` is the value it was held against, if it was.
    """

    task: str
    model: str
    metric: str
    value: float | None
    bounds: Bounds | Allowance
    verdict: Verdict
    reason: str = ""
    baseline: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """All rules of a gate, judged; `inconclusive_passes` as in its file."""

    results: tuple[RuleResult, ...] = field(default_factory=tuple)
    inconclusive_passes: bool = False

    @property
    def passed(self) -> bool:
        """Whether every rule was met; a run in which there was nothing to judge does not pass."""
        return bool(self.results) and not self.unmet

    @property
    def unmet(self) -> tuple[RuleResult, ...]:
        """The rules that keep the gate shut."""
        met = {"pass", "inconclusive"} if self.inconclusive_passes else {"pass"}
        return tuple(result for result in self.results if result.verdict not in met)

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return {"passed": self.passed, **dumped(self)}

    @classmethod
    def from_json(cls, data: dict[str, Json]) -> GateResult:
        """Return the result that `to_json` wrote; UsageError when it is none."""
        return loaded(GateResult, data, "gate's result")


def check(gate: Gate, summary: Summary) -> GateResult:
    """Judge a run: the conditions on every task first, then the file's rules in their order."""
    conditions = (
        _judged(rule, entry) for entry in summary.entries for rule in _conditions(gate, entry)
    )
    rules = (result for rule in gate.rules for result in _results(rule, summary))
    return GateResult(results=(*conditions, *rules), inconclusive_passes=gate.inconclusive_passes)


def judge_metrics_of(judging: Judging) -> dict[str, float | None]:
    """Return what a rule on the judge may speak about, by name; nothing when the judge is not calibrated.

    All are the calibration's but `agreement`, that of several judges in the run itself.
    """
    found = judging.calibration
    if found is None:
        return {}
    return {
        "kappa": found.kappa,
        "accuracy": found.accuracy,
        "false_positive_rate": found.false_positive_rate,
        "unscored": found.unscored,
        "cases": found.n,
        "agreement": None if judging.agreement is None else judging.agreement.kappa,
    }


def metrics_of(tally: Tally) -> dict[str, float | None]:
    """Return what a rule may speak about, by name: shares in 0..1, scores in their scale, seconds, US dollars."""
    counts = tally.counts
    named: dict[str, float | None] = {
        "accuracy": tally.accuracy.value,
        "coverage": counts.coverage,
        "planned": counts.planned,
        "scored": counts.scored,
        "correct": counts.correct,
        "incorrect": counts.incorrect,
        "error": counts.error,
        "unscored": counts.unscored,
        "not_run": counts.not_run,
        "cut": sum(tally.cut.values()),
        "recorded": tally.recorded,
        "cached": tally.cached,
        "reruns": tally.reruns,
        "engine_uncertain": tally.engine_uncertain,
        "tokens": tally.usage.total_tokens,
        # A sum that lacks a part must not pass for a low one.
        "cost": None if tally.unpriced else tally.usage.cost,
        "seconds": tally.seconds.total,
        "seconds_median": tally.seconds.median,
        "seconds_p95": tally.seconds.p95,
    }
    for repeated in tally.repeated:
        named[f"pass@{repeated.k}"] = repeated.at_least_one
        named[f"pass^{repeated.k}"] = repeated.every_one
    for mean in (*tally.shares, *tally.scores):
        named.setdefault(metric_name(mean.name), mean.value)
    return named


def _conditions(gate: Gate, entry: TaskSummary) -> Iterator[Rule]:
    """Yield what a gate asks of every task unless its file says otherwise."""
    own = {rule.metric for rule in gate.rules if rule.task == entry.task}
    if "coverage" not in own:
        yield Rule(task=entry.task, metric="coverage", bounds=Bounds(minimum=gate.coverage))
    if not gate.recorded_allowed:
        yield Rule(task=entry.task, metric="recorded", bounds=Bounds(maximum=0))
    if not gate.cached_allowed:
        yield Rule(task=entry.task, metric="cached", bounds=Bounds(maximum=0))


def _results(rule: Rule, summary: Summary) -> Iterator[RuleResult]:
    entries = [entry for entry in summary.entries if entry.task == rule.task]
    if not entries and rule.task == JUDGE:
        yield from _judges_results(rule, summary)
        return
    yield from (_judged(rule, entry) for entry in entries)
    if not entries:
        ran = ", ".join(dict.fromkeys(entry.task for entry in summary.entries)) or "none"
        yield _result(rule, "", None, "missing", f"the task is not in this run (in it: {ran})")


def _judges_results(rule: Rule, summary: Summary) -> Iterator[RuleResult]:
    """Yield how the judges of a run fared under a rule that is no task's but theirs."""
    asked = [
        (entry, found)
        for entry in summary.entries
        if (found := entry.tally.judging) and found.judges
    ]
    for entry, judging in asked:
        reason = "its judge is not calibrated as it was asked: llmeval calibrate --judge SPEC"
        known = judge_metrics_of(judging)
        yield (
            _held(rule, entry, known)
            if known
            else _result(rule, entry.model, None, "missing", reason)
        )
    if not asked:
        yield _result(rule, "", None, "missing", "no judge was asked in this run")


def _judged(rule: Rule, entry: TaskSummary) -> RuleResult:
    return _held(rule, entry, metrics_of(entry.tally))


def _held(rule: Rule, entry: TaskSummary, known: Mapping[str, float | None]) -> RuleResult:
    if rule.metric not in known:
        reason = f"no such metric in this run (there are {', '.join(known)})"
        return _result(rule, entry.model, None, "missing", reason)
    value = known[rule.metric]
    if value is None:
        return _result(rule, entry.model, None, "missing", "there is no value to judge")
    if entry.tally.counts.scored < rule.samples:
        reason = f"{entry.tally.counts.scored:,} scored samples are too few; the rule wants {rule.samples:,}"
        return _result(rule, entry.model, value, "inconclusive", reason)
    if rule.bounds.hold(value):
        return _result(rule, entry.model, value, "pass", "")
    return _result(rule, entry.model, value, "fail", _reason(rule, value, entry.tally.counts))


def _reason(rule: Rule, value: float, counts: Counts) -> str:
    match rule.metric:
        case "coverage":
            parts = {"error": counts.error, "unscored": counts.unscored, "not run": counts.not_run}
            lost = ", ".join(f"{number} {name}" for name, number in parts.items() if number)
            return f"{counts.scored} of {counts.planned} planned samples were scored ({lost})"
        case "recorded" | "cached":
            source = "recorded replies" if rule.metric == "recorded" else "answers of other runs"
            return f"{value:.0f} rows rest on {source}, which only `{rule.metric}: allowed` in the gate file permits"
        case _:
            return f"{value:.6g} is outside {rule.bounds}"


def _result(
    rule: Rule, model: str, value: float | None, verdict: Verdict, reason: str
) -> RuleResult:
    return RuleResult(
        task=rule.task,
        model=model,
        metric=rule.metric,
        value=value,
        bounds=rule.bounds,
        verdict=verdict,
        reason=reason,
    )

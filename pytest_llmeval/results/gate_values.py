"""The values that a gate's rules may name."""

from __future__ import annotations

from pytest_llmeval.results.figures import Figures, Judging
from pytest_llmeval.results.gate import JUDGE
from pytest_llmeval.results.summary import TaskSummary
from pytest_llmeval.results.task_info import metric_name


def rule_values(figures: Figures) -> dict[str, float | None]:
    """Return the values by name: shares in 0..1, scores in their scale, seconds, US dollars."""
    counts = figures.counts
    named: dict[str, float | None] = {
        "accuracy": figures.accuracy.value,
        "coverage": counts.coverage,
        "planned": counts.planned,
        "scored": counts.scored,
        "correct": counts.correct,
        "incorrect": counts.incorrect,
        "error": counts.error,
        "unscored": counts.unscored,
        "not_run": counts.not_run,
        "cut": sum(figures.cut.values()),
        "recorded": figures.recorded,
        "cached": figures.cached,
        "reruns": figures.reruns,
        "engine_uncertain": figures.engine_uncertain,
        "tokens": figures.usage.total_tokens,
        # A sum that lacks a part must not pass for a low one.
        "cost": None if figures.unpriced else figures.usage.cost,
        "seconds": figures.seconds.total,
        "seconds_median": figures.seconds.median,
        "seconds_p95": figures.seconds.p95,
    }
    for repeated in figures.repeated:
        named[f"pass@{repeated.k}"] = repeated.at_least_one
        named[f"pass^{repeated.k}"] = repeated.every_one
    for mean in (*figures.shares, *figures.scores, *figures.metrics):
        named.setdefault(metric_name(mean.name), mean.value)
    return named


def judge_values(judging: Judging) -> dict[str, float | None]:
    """Return the values for rules on the judge; none when the judge is not calibrated.

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


def baseline_values(entry: TaskSummary) -> dict[str, float | None]:
    """Return the values for rules against a baseline; the judge's as ``judge.kappa``."""
    judging = entry.figures.judging
    judges = {} if judging is None else judge_values(judging)
    named = {f"{JUDGE}.{name}": value for name, value in judges.items()}
    return rule_values(entry.figures) | named

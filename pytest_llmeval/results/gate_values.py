"""The values that a gate's rules may name."""

from __future__ import annotations

from pytest_llmeval.results.estimate import Estimate
from pytest_llmeval.results.figures import Figures, Judging
from pytest_llmeval.results.gate import ACCURACY_CORRECTED, JUDGE
from pytest_llmeval.results.summary import TaskSummary
from pytest_llmeval.results.task_info import metric_name


def rule_values(figures: Figures) -> dict[str, Estimate]:
    """Return the values by name: shares in 0..1, scores in their scale, seconds, US dollars."""
    counts = figures.counts
    plain: dict[str, float | None] = {
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
        "stand_in": sum(one.rows for one in figures.stand_ins),
        "tokens": figures.usage.total_tokens,
        # A sum that lacks a part must not pass for a low one.
        "cost": None if figures.unpriced else figures.usage.cost,
        "seconds": figures.seconds.total,
        "seconds_median": figures.seconds.median,
        "seconds_p95": figures.seconds.p95,
    }
    named = {"accuracy": Estimate.of(figures.accuracy)}
    if (corrected := figures.accuracy_corrected) is not None:
        named[ACCURACY_CORRECTED] = Estimate.of(corrected)
    named |= {name: Estimate(value=value, n=counts.scored) for name, value in plain.items()}
    for repeated in figures.repeated:
        for sign, value, (low, high) in (
            ("@", repeated.at_least_one, repeated.at_least_one_95),
            ("^", repeated.every_one, repeated.every_one_95),
        ):
            known = Estimate(value=value, n=repeated.n, low=low, high=high)
            named[f"pass{sign}{repeated.k}"] = known
    for mean in (*figures.shares, *figures.scores, *figures.metrics):
        named.setdefault(metric_name(mean.name), Estimate.of(mean))
    return named


def judge_values(judging: Judging) -> dict[str, Estimate]:
    """Return the values for rules on the judge; none when the judge is not validated.

    All are the validation's, over its labelled cases, but `agreement`: that of several judges
    in the run itself.
    """
    found = judging.validation
    if found is None:
        return {}
    decided = found.n - found.unscored
    rates = {
        "kappa": (found.kappa, (found.kappa_low, found.kappa_high)),
        "accuracy": (found.accuracy, found.accuracy_95),
        "false_positive_rate": (found.false_positive_rate, found.false_positive_rate_95),
        "false_negative_rate": (found.false_negative_rate, found.false_negative_rate_95),
        "unscored_rate": (found.unscored_rate, found.unscored_rate_95),
    }
    agreement = judging.agreement
    return {
        **{
            name: Estimate(value=value, n=decided, low=low, high=high)
            for name, (value, (low, high)) in rates.items()
        },
        "cases": Estimate(value=found.n, n=found.n),
        "agreement": Estimate(
            value=None if agreement is None else agreement.kappa,
            n=0 if agreement is None else agreement.n,
        ),
    }


def baseline_values(entry: TaskSummary) -> dict[str, float | None]:
    """Return the values for rules against a baseline; the judge's as ``judge.kappa``."""
    judging = entry.figures.judging
    judges = {} if judging is None else judge_values(judging)
    named = {f"{JUDGE}.{name}": known for name, known in judges.items()}
    return {name: known.value for name, known in (rule_values(entry.figures) | named).items()}

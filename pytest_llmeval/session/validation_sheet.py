"""Validations as tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pytest_llmeval.report.clean import clean
from pytest_llmeval.report.numbers import interval, percent, score
from pytest_llmeval.report.sheet import Block, Column, Label, Sheet, column_of
from pytest_llmeval.session.judge_figures import Interval, JudgeFigures
from pytest_llmeval.session.validations import PrefilterFigures, Validation

_KAPPA, _SPAN = 1, 6
"""Ranks: kappa is what a reader looks for; intervals are left out first."""


def prefilter_line(found: PrefilterFigures, cases: int) -> str:
    """Return what the prefilter decided of a number of cases."""
    return (
        f"{found.version} decides {found.decided} of {cases} cases without a judge "
        f"({found.decided / cases:.0%}), {found.wrong} of them wrongly"
    )


def validation_sheet(validation: Validation) -> Sheet:
    """Return the figures of all cases, then those of each kind."""
    found = {"all": validation.overall, **validation.kinds}
    figures = list(found.values())
    return Sheet(
        title=clean(f"{validation.judge} · {validation.question}"),
        blocks=(
            Block(
                labels=tuple(Label(text=clean(name)) for name in found),
                units=(
                    (
                        column_of("cases", [f"{one.n:,}" for one in figures]),
                        column_of("unscored", [f"{one.unscored:,}" for one in figures]),
                        column_of("accuracy", [percent(one.accuracy) for one in figures]),
                    ),
                    _rate(
                        "false positive rate",
                        figures,
                        lambda one: (one.false_positive_rate, one.false_positive_rate_95),
                    ),
                    _rate(
                        "false negative rate",
                        figures,
                        lambda one: (one.false_negative_rate, one.false_negative_rate_95),
                    ),
                    (
                        column_of(
                            "kappa", [score(one.kappa, 1) for one in figures], "strong", rank=_KAPPA
                        ),
                        column_of(
                            "95 %",
                            [interval(*one.kappa_95, 1) for one in figures],
                            "quiet",
                            rank=_SPAN,
                        ),
                    ),
                ),
            ),
        ),
    )


def _rate(
    head: str,
    figures: Sequence[JudgeFigures],
    rate: Callable[[JudgeFigures], tuple[float | None, Interval]],
) -> tuple[Column, ...]:
    """Return a rate in per cent with its interval."""
    found = [rate(one) for one in figures]
    return (
        column_of(head, [percent(value) for value, _ in found]),
        column_of("95 %", [_percent_interval(*ends) for _, ends in found], "quiet", rank=_SPAN),
    )


def _percent_interval(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return interval(None, None, 100)
    return interval(100 * low, 100 * high, 100)

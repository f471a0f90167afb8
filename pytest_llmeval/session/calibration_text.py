"""Calibrations as text."""

from __future__ import annotations

from typing import Final

from pytest_llmeval.report.numbers import interval, percent, score
from pytest_llmeval.session.calibrations import Calibration, PrefilterFigures
from pytest_llmeval.session.judge_figures import Interval, JudgeFigures

_HEADINGS: Final = (
    "",
    "cases",
    "unscored",
    "accuracy",
    "95 %",
    "let pass",
    "95 %",
    "refused",
    "kappa",
    "95 %",
)


def prefilter_line(found: PrefilterFigures, cases: int) -> str:
    """Return what the prefilter decided of a number of cases."""
    return (
        f"{found.version} decides {found.decided} of {cases} cases without a judge "
        f"({found.decided / cases:.0%}), {found.wrong} of them wrongly"
    )


def calibration_table(calibration: Calibration) -> str:
    """Return a heading and a table: all cases, then those of each kind."""
    found = {"all": calibration.overall, **calibration.kinds}
    table = [_HEADINGS, *(_cells(name, one) for name, one in found.items())]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = [
        f"{calibration.judge}: verdicts against labels; wrong answers let pass, right ones refused"
    ]
    for name, *cells in table:
        aligned = (cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True))
        lines.append("  ".join([name.ljust(widths[0]), *aligned]))
    return "\n".join(lines)


def _cells(name: str, found: JudgeFigures) -> tuple[str, ...]:
    return (
        name,
        f"{found.n}",
        f"{found.unscored}",
        percent(found.accuracy),
        _interval(found.accuracy_95, 100),
        f"{found.false_positives}",
        _interval(found.false_positive_rate_95, 100),
        f"{found.false_negatives}",
        score(found.kappa, 1),
        _interval(found.kappa_95, 1),
    )


def _interval(found: Interval, scale: float) -> str:
    low, high = (None if end is None else end * scale for end in found)
    return interval(low, high, scale)

"""Remarks below a task's table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_llmeval.report import numbers
from pytest_llmeval.report.clean import clean
from pytest_llmeval.report.entry_name import entry_name
from pytest_llmeval.report.regrading_notes import mixed_notes
from pytest_llmeval.results.figures import Judging
from pytest_llmeval.results.graders import GRADER
from pytest_llmeval.results.rows import ROLE
from pytest_llmeval.results.summary import TaskSummary

_PROBLEM_LIMIT = 200
"""Longest text of an error, in characters."""


def notes(entries: Sequence[TaskSummary]) -> tuple[str, ...]:
    """Return what is to be known of each entry besides its figures."""
    said = []
    for entry in entries:
        name = entry_name(entry, entries)
        said += [f"{name}: {line}" for line in mixed_notes(entry.graders)]
        if entry.figures.cut:
            reasons = ", ".join(
                f"{clean(reason)} {number:,}" for reason, number in entry.figures.cut.items()
            )
            said.append(f"{name}: cut replies: {reasons}.")
        said += [
            f"{name}: {clean(one.engine)} stood in for {(other := clean(one.stands_in_for))} in "
            f"{one.rows:,} of {entry.figures.counts.planned:,} rows, and may answer otherwise: "
            f"these are no results of {other}."
            for one in entry.figures.stand_ins
        ]
        said += [f"{name}: {line}" for line in _calibration(entry.figures.judging)]
        said += [
            f"{name}: the role {clean(what.removeprefix(ROLE))} was played by {clean(models[0])}."
            for what, models in entry.versions.items()
            if what.startswith(ROLE) and len(models) == 1
        ]
        said += [
            f"{name}: accuracy takes {one.ratio:.2f} × the samples of {clean(one.name)} "
            f"for the same relative error ({100 * (one.ratio - 1):+.0f} %, n = {one.n:,})."
            for one in entry.figures.efficiency
        ]
        said += [
            f"{name}: no value of the metric {clean(one.name)}: "
            f"{clean(one.problem, _PROBLEM_LIMIT)}"
            for one in entry.figures.metrics
            if one.problem
        ]
        said += [
            f"{name}: mixed rows: {clean(what)} is {' and '.join(map(clean, versions))}."
            for what, versions in entry.versions.items()
            if len(versions) > 1 and not (entry.graders and what.startswith(GRADER))
        ]
    return tuple(said)


def _calibration(judging: Judging | None) -> Iterator[str]:
    """Yield the calibration of the judges that were asked."""
    if judging is None or not judging.judges:
        return
    judges = " and ".join(map(clean, judging.judges))
    if (found := judging.calibration) is None:
        yield f"judged by {judges}, which is not calibrated for this (llmeval calibrate)."
        return
    yield (
        f"judged by {judges}: kappa {numbers.score(found.kappa, 1)} "
        f"(95 % {numbers.interval(found.kappa_low, found.kappa_high, 1)}) "
        f"on {found.n:,} labelled cases, {found.false_positives:,} wrong ones let pass, "
        f"{found.unscored:,} unscored ({clean(found.prompt)}, {clean(found.made)})."
    )

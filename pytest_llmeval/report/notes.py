"""Remarks below a task's table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_llmeval.report import numbers
from pytest_llmeval.report.clean import clean
from pytest_llmeval.report.entry_name import entry_name
from pytest_llmeval.report.regrading_notes import mixed_notes
from pytest_llmeval.results.figures import Corrected, Judging
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
        said += [f"{name}: {line}" for line in _validation(entry.figures.judging)]
        said += [f"{name}: {line}" for line in _failures(entry.figures.judging)]
        said += [f"{name}: {line}" for line in _correction(entry.figures.accuracy_corrected)]
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
        if entry.figures.unclassed:
            said.append(
                f"{name}: incorrect answers that name no class: {entry.figures.unclassed:,}; they "
                "are false positives of none, while correct answers name theirs within other "
                "words. So F1 is too high, and MCC not exact: take the class out by an answer rule "
                "(answer: ./rules.py:label), and compare by the scorer exact."
            )
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


def _correction(found: Corrected | None) -> Iterator[str]:
    """Yield what the corrected accuracy rests on, or why there is none."""
    if found is None:
        return
    if found.problem:
        yield f"accuracy is not corrected: {clean(found.problem)}."
    elif found.method == "labels":
        yield (
            f"accuracy corrected by {found.labels:,} labels of its own answers, drawn at random "
            "(prediction-powered)."
        )
    else:
        yield (
            f"accuracy corrected by the judge's errors on {found.labels:,} labelled cases, if it "
            "errs here as it does there; labels of this run's answers need not assume that "
            "(llmeval label)."
        )


def _failures(judging: Judging | None) -> Iterator[str]:
    """Yield which judges of several lost their votes by failing."""
    for one in () if judging is None else judging.failures:
        yield (
            f"judge {clean(one.judge)} failed on {one.n:,} of {one.asked:,} answers, which the "
            f"others decided without its vote: {clean(one.reason, 300)}"
        )


def _validation(judging: Judging | None) -> Iterator[str]:
    """Yield the validation of the judges that were asked."""
    if judging is None or not judging.judges:
        return
    judges = " and ".join(map(clean, judging.judges))
    if (found := judging.validation) is None:
        yield f"judged by {judges}, which is not validated for this (llmeval validate)."
        return
    yield (
        f"judged by {judges}: kappa {numbers.score(found.kappa, 1)} "
        f"(95 % {numbers.interval(found.kappa_low, found.kappa_high, 1)}) "
        f"on {found.n:,} labelled cases, false positive rate "
        f"{numbers.percent(found.false_positive_rate)}, false negative rate "
        f"{numbers.percent(found.false_negative_rate)}, {found.unscored:,} unscored "
        f"({clean(found.question)}, {clean(found.made)})."
    )

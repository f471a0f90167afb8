"""Why figures of the short table could mislead: a line for all tasks of which it is true."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_llmeval.report.clean import clean
from pytest_llmeval.report.shared_notes import shared_notes
from pytest_llmeval.report.summary_sheet import DEMO
from pytest_llmeval.results.figures import Corrected, Judging
from pytest_llmeval.results.graders import GRADER
from pytest_llmeval.results.summary import Summary, TaskSummary


def doubts(summary: Summary) -> tuple[str, ...]:
    """Return the warnings below the results table: one line a warning, with the tasks' names."""
    told = ((clean(entry.task), text) for entry in summary.entries for text in _of_line(entry))
    lines = [*shared_notes(told)]
    if any(entry.info.demo for entry in summary.entries):
        lines.insert(0, f"{DEMO.strip()} demo data: no results of these benchmarks")
    return tuple(lines)


def _of_line(entry: TaskSummary) -> Iterator[str]:
    """Yield the reasons to doubt the figures of one line."""
    figures = entry.figures
    if entry.graders:
        yield "MIXED GRADERS, so accuracy is no single number (llmeval rescore RUN)"
    for one in figures.stand_ins:
        yield f"{clean(one.engines)}, so these are no results of {clean(one.stands_in_for)}"
    whole = entry.info.whole
    if whole is not None and figures.samples < whole:
        yield f"a part of the public dataset, {figures.samples:,} of {whole:,} samples"
    yield from _judging(figures.judging)
    yield from _correction(figures.accuracy_corrected)
    if figures.unclassed:
        yield (
            f"{figures.unclassed:,} incorrect answers name no class, so F1 is too high and MCC not "
            "exact"
        )
    for metric in figures.metrics:
        if metric.problem:
            yield f"no value of the metric {clean(metric.name)}"
    yield from _mixed(entry)


def _judging(found: Judging | None) -> Iterator[str]:
    """Yield whether judges were validated, and which of several failed."""
    if found is None:
        return
    if found.judges and found.validation is None:
        judges = " and ".join(map(clean, found.judges))
        yield f"judged by {judges}, not validated for this (llmeval validate)"
    for failed in found.failures:
        told = f"judge {clean(failed.judge)} failed on {failed.n:,} of {failed.asked:,} answers"
        yield f"{told}, which the others decided"


def _correction(found: Corrected | None) -> Iterator[str]:
    """Yield what a corrected accuracy rests on, or that there is none."""
    if found is None:
        return
    if found.problem:
        yield "accuracy is not corrected for the judge's errors"
    elif found.method == "labels":
        yield f"accuracy corrected by {found.labels:,} labels of its own answers"
    else:
        yield (
            f"accuracy corrected by the judge's errors on {found.labels:,} labelled cases, if it "
            "errs here as there"
        )


def _mixed(entry: TaskSummary) -> Iterator[str]:
    """Yield a warning if the rows of one line have several versions of something.

    Graders are left out where `entry.graders` lists them, as they have a warning of their own.
    """
    differing = [
        clean(what)
        for what, versions in entry.versions.items()
        if len(versions) > 1 and not (entry.graders and what.startswith(GRADER))
    ]
    if differing:
        yield f"MIXED ROWS, of more than one {' and '.join(differing)}"

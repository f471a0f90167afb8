"""The table of a task's accuracy, scores, shares, metrics and counts."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_llmeval.report import numbers
from pytest_llmeval.report.clean import clean
from pytest_llmeval.report.entry_name import entry_name
from pytest_llmeval.report.metric_text import metric_interval
from pytest_llmeval.report.score_columns import score_units
from pytest_llmeval.report.sheet import ALWAYS, Block, Column, Label, Tone, column_of, trouble
from pytest_llmeval.results.figures import Figures
from pytest_llmeval.results.summary import TaskSummary

_LOST, _INTERVAL, _SCORED, _COUNT, _NOTHING = 1, 2, 4, 8, 10
"""Ranks: narrow pages leave out first what is 0 everywhere, and last lost samples."""


def figures_block(entries: Sequence[TaskSummary]) -> Block:
    """Return accuracy, scores, shares, metrics and counts of each entry and its groups."""
    labels, sets = [], []
    for entry in entries:
        labels.append(Label(text=entry_name(entry, entries)))
        sets.append(entry.figures)
        several = len({group.key for group in entry.groups}) > 1
        for group in entry.groups:
            text = clean(f"{group.key} {group.value}" if several else group.value)
            labels.append(Label(text=text or numbers.NONE, indented=True))
            sets.append(group.figures)
    scores = score_units(sets, [entries[0].info] * len(sets))
    return Block(labels=tuple(labels), units=(accuracy_unit(sets), *scores, _counts(sets)))


def accuracy_unit(sets: Sequence[Figures]) -> tuple[Column, ...]:
    """Return the accuracy of sets of rows, its interval, and how many rows were scored."""
    values = [numbers.percent(one.accuracy.value) for one in sets]
    spans = [metric_interval(one.accuracy) for one in sets]
    scored = [f"{one.counts.scored:,} of {one.counts.planned:,}" for one in sets]
    return (
        column_of("accuracy", values, "strong", rank=ALWAYS),
        column_of("95 %", spans, "quiet", rank=_INTERVAL),
        column_of("scored", scored, rank=_SCORED),
    )


def lost_unit(sets: Sequence[Figures]) -> tuple[Column, ...]:
    """Return how many samples of sets of rows were lost, by outcome."""
    counts = [one.counts for one in sets]
    return (
        trouble_column("error", [one.error for one in counts], "bad"),
        trouble_column("unscored", [one.unscored for one in counts]),
        trouble_column("not run", [one.not_run for one in counts], "bad"),
    )


def trouble_column(head: str, counts: Sequence[int], tone: Tone = "warning") -> Column:
    """Return a column of counts that should all be 0."""
    cells = tuple(trouble(count, tone) for count in counts)
    return Column(head=head, cells=cells, rank=_LOST if any(counts) else _NOTHING)


def _counts(sets: Sequence[Figures]) -> tuple[Column, ...]:
    counts = [one.counts for one in sets]
    return (
        column_of("correct", [f"{one.correct:,}" for one in counts], rank=_COUNT),
        column_of("incorrect", [f"{one.incorrect:,}" for one in counts], rank=_COUNT),
        *lost_unit(sets),
    )

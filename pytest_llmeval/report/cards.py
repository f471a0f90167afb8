"""The figures of one task under one model on a card."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from pytest_llmeval.report import numbers
from pytest_llmeval.report.clean import clean
from pytest_llmeval.report.metric_text import metric_interval, metric_value
from pytest_llmeval.report.provenance import Fact
from pytest_llmeval.report.use_block import token_text
from pytest_llmeval.report.whisker import Whisker, interval_text, value_text, whisker
from pytest_llmeval.results.figures import Counts, Figures, Mean
from pytest_llmeval.results.summary import TaskSummary
from pytest_llmeval.results.task_info import TaskInfo


class Share(NamedTuple):
    """One outcome's part of the planned samples, in per cent of the bar."""

    outcome: str
    number: int
    left: float
    width: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Headline:
    """A mean in large type, with its interval as text and on an axis."""

    name: str
    value: str
    interval: str
    whisker: Whisker | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One task under one model, as one test function ran it."""

    name: str
    figures: tuple[Headline, ...]
    coverage: str
    complete: bool
    outcomes: tuple[Share, ...]
    facts: tuple[Fact, ...]


def card(entry: TaskSummary) -> Card:
    """Return the card of one entry."""
    figures = entry.figures
    counts = figures.counts
    return Card(
        name=clean(f"{entry.model} · {entry.test.rpartition('::')[2]}"),
        figures=(
            _headline("accuracy", figures.accuracy),
            *_corrected(figures),
            *(_headline(_scaled(mean), mean) for mean in figures.graded),
        ),
        coverage=f"{counts.scored:,} of {counts.planned:,} scored",
        complete=counts.scored == counts.planned,
        outcomes=_shares(counts),
        facts=_facts(figures, entry.info),
    )


def _corrected(figures: Figures) -> Iterator[Headline]:
    """Yield the corrected accuracy, if there is one."""
    found = figures.accuracy_corrected
    if found is not None and found.value is not None:
        yield _headline("accuracy corrected", found)


def _scaled(mean: Mean) -> str:
    return clean(mean.name) if mean.scale == 1 else f"{clean(mean.name)}, 0–{mean.scale:g}"


def _headline(name: str, mean: Mean) -> Headline:
    return Headline(
        name=name, value=value_text(mean), interval=interval_text(mean), whisker=whisker(mean)
    )


def _shares(counts: Counts) -> tuple[Share, ...]:
    numbered = {
        "correct": counts.correct,
        "incorrect": counts.incorrect,
        "error": counts.error,
        "unscored": counts.unscored,
        "not run": counts.not_run,
    }
    shares, left = [], 0.0
    for outcome, count in numbered.items():
        width = 100 * count / (counts.planned or 1)
        shares.append(Share(outcome, count, left, width))
        left += width
    return tuple(shares)


def _facts(figures: Figures, info: TaskInfo) -> tuple[Fact, ...]:
    usage, taken = figures.usage, figures.seconds
    facts = [
        Fact("tokens in", token_text(usage, usage.input_tokens)),
        Fact("tokens out", token_text(usage, usage.output_tokens)),
        Fact("cost", numbers.money(usage.cost, at_least=figures.unpriced > 0)),
        Fact("median seconds", numbers.seconds(taken.median)),
        Fact("95th percentile", numbers.seconds(taken.p95)),
    ]
    facts += [
        Fact(clean(info.heading(mean.name)), f"{value_text(mean)} ({interval_text(mean)})")
        for mean in figures.shares
    ]
    facts += [
        Fact(f"pass@{one.k} · pass^{one.k}", _repeated(one.at_least_one, one.every_one))
        for one in figures.repeated
    ]
    facts += [
        Fact(clean(one.name), f"{metric_value(one.value, one)} ({metric_interval(one)})")
        for one in figures.further_metrics
    ]
    counted = {
        "cut": sum(figures.cut.values()),
        "cached": figures.cached,
        "reruns": figures.reruns,
        **{one.engines: one.rows for one in figures.stand_ins},
    }
    for name, number in counted.items():
        if number:
            facts.append(Fact(clean(name), f"{number:,}"))
    return tuple(facts)


def _repeated(at_least_one: float, every_one: float) -> str:
    return f"{numbers.percent(at_least_one)} · {numbers.percent(every_one)}"

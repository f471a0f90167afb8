"""What the first screen of a report says, as texts and positions: cards of figures, plots, settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

from pytest_llmeval.records import Json, Row
from pytest_llmeval.report import numbers
from pytest_llmeval.report.clean import clean
from pytest_llmeval.report.plots import (
    DotPlot,
    Histogram,
    Whisker,
    dot_plots,
    graded,
    histogram,
    interval_text,
    value_text,
    whisker,
)
from pytest_llmeval.report.sheet import Sheet, sheets
from pytest_llmeval.results.summary import Counts, Mean, Summary, Tally, TaskSummary

_SETTING_LIMIT: Final = 300


class Fact(NamedTuple):
    """A name and what is said under it."""

    name: str
    text: str


class Share(NamedTuple):
    """One outcome's part of the planned samples, in per cent of the bar."""

    outcome: str
    number: int
    left: float
    width: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A mean in large type, with its interval in words and on an axis."""

    name: str
    value: str
    interval: str
    whisker: Whisker | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One task under one model, as one test function ran it."""

    name: str
    figures: tuple[Figure, ...]
    coverage: str
    complete: bool
    outcomes: tuple[Share, ...]
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Everything about one task."""

    anchor: str
    title: str
    models: tuple[str, ...]
    cards: tuple[Card, ...]
    plots: tuple[DotPlot, ...]
    histograms: tuple[tuple[str, Histogram], ...]
    sheet: Sheet


def sections(summary: Summary, rows: Sequence[Row]) -> tuple[Section, ...]:
    """Return a section a task, in the summary's order."""
    tasks = dict.fromkeys(entry.task for entry in summary.entries)
    return tuple(
        _section(
            f"task-{number}",
            [entry for entry in summary.entries if entry.task == task],
            sheet,
            rows,
        )
        for number, (task, sheet) in enumerate(zip(tasks, sheets(summary), strict=True), 1)
    )


def entry_names(summary: Summary) -> list[str]:
    """Return a name for each entry that tells it from all others."""
    models = {entry.model for entry in summary.entries}
    names = []
    for entry in summary.entries:
        tests = {other.test for other in summary.entries if other.task == entry.task}
        parts = [entry.info.title]
        parts += [entry.model] if len(models) > 1 else []
        parts += [entry.test.rpartition("::")[2]] if len(tests) > 1 else []
        names.append(clean(" · ".join(parts)))
    return names


def _section(
    anchor: str, entries: Sequence[TaskSummary], sheet: Sheet, rows: Sequence[Row]
) -> Section:
    info = entries[0].info
    return Section(
        anchor=anchor,
        title=clean(info.title) + (" (demo data)" if info.demo else ""),
        models=tuple(dict.fromkeys(clean(entry.model) for entry in entries)),
        cards=tuple(_card(entry) for entry in entries),
        plots=dot_plots(entries),
        histograms=tuple(
            (clean(entry.model), histogram(_rows_of(entry, rows), mean))
            for entry in entries
            for mean in graded(entry.tally)[:1]
        ),
        sheet=sheet,
    )


def _rows_of(entry: TaskSummary, rows: Sequence[Row]) -> list[Row]:
    wanted = (entry.task, entry.test, entry.model)
    return [row for row in rows if (row.key.task, row.key.test, row.key.model) == wanted]


def _card(entry: TaskSummary) -> Card:
    tally = entry.tally
    counts = tally.counts
    return Card(
        name=clean(f"{entry.model} · {entry.test.rpartition('::')[2]}"),
        figures=(
            _figure("accuracy", tally.accuracy),
            *(_figure(_scaled(mean), mean) for mean in graded(tally)),
        ),
        coverage=f"{counts.scored:,} of {counts.planned:,} scored",
        complete=counts.scored == counts.planned,
        outcomes=_shares(counts),
        facts=_facts(tally),
    )


def _scaled(mean: Mean) -> str:
    return clean(mean.name) if mean.scale == 1 else f"{clean(mean.name)}, 0–{mean.scale:g}"


def _figure(name: str, mean: Mean) -> Figure:
    return Figure(
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


def _facts(tally: Tally) -> tuple[Fact, ...]:
    usage, taken = tally.usage, tally.seconds
    facts = [
        Fact("tokens in", numbers.count(usage.input_tokens)),
        Fact("tokens out", numbers.count(usage.output_tokens)),
        Fact("cost", numbers.money(usage.cost, at_least=tally.unpriced > 0)),
        Fact("median seconds", numbers.seconds(taken.median)),
        Fact("95th percentile", numbers.seconds(taken.p95)),
    ]
    facts += [
        Fact(f"{clean(mean.name.replace('_', ' '))}", f"{value_text(mean)} ({interval_text(mean)})")
        for mean in tally.shares
    ]
    facts += [
        Fact(f"pass@{one.k} · pass^{one.k}", _repeated(one.at_least_one, one.every_one))
        for one in tally.repeated
    ]
    counted = {
        "cut": sum(tally.cut.values()),
        "cached": tally.cached,
        "reruns": tally.reruns,
        "engine-uncertain": tally.engine_uncertain,
    }
    for name, number in counted.items():
        if number:
            facts.append(Fact(name, f"{number:,}"))
    return tuple(facts)


def _repeated(at_least_one: float, every_one: float) -> str:
    return f"{numbers.percent(at_least_one)} · {numbers.percent(every_one)}"


def started_text(info: Mapping[str, Json]) -> str:
    """Return when the run began, in words."""
    try:
        moment = datetime.fromisoformat(str(info.get("started")))
    except ValueError:
        return "a run without a date"
    return f"{moment.day} {moment:%B %Y, %H:%M} UTC"


def provenance(info: Mapping[str, Json]) -> tuple[tuple[str, tuple[Fact, ...]], ...]:
    """Return what run.json tells of how the run was made, in named groups."""
    settings = _mapping(info.get("settings"))
    tasks = [_mapping(task) for task in _mapping(info.get("tasks")).values()]
    origin = {
        "platform": info.get("platform"),
        **{f"git {k}": v for k, v in _mapping(info.get("git")).items()},
    }
    groups: dict[str, dict[str, Json]] = {
        "settings": {
            name: value
            for name, value in settings.items()
            if value not in (None, False, [], {}, "")
        },
        "versions": _mapping(info.get("versions")),
        "origin": {name: value for name, value in origin.items() if value is not None},
        "digests": {
            f"{task.get('name')} {part}": str(task[part])[:16]
            for task in tasks
            for part in ("samples", "prompt", "settings")
            if part in task
        },
    }
    return tuple(
        (
            name,
            tuple(
                Fact(clean(key), clean(_value(value), _SETTING_LIMIT))
                for key, value in group.items()
            ),
        )
        for name, group in groups.items()
        if group
    )


def _mapping(value: Json) -> dict[str, Json]:
    return value if isinstance(value, dict) else {}


def _value(value: Json) -> str:
    if isinstance(value, list):
        return ", ".join(map(_value, value))
    if isinstance(value, dict):
        return ", ".join(f"{key}={_value(part)}" for key, part in value.items())
    return "yes" if value is True else str(value)

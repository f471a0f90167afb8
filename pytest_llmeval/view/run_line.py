"""What the list of runs tells of one run, read from as little of its files as that takes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from math import fsum
from pathlib import Path
from typing import Final, TypeVar

from pytest_llmeval.errors import UsageError
from pytest_llmeval.files.json_file import MAX_BYTES
from pytest_llmeval.records import Json, Outcome, Record, RowKey, Usage
from pytest_llmeval.results.figures import Counts, Mean
from pytest_llmeval.results.growing_lines import decoded
from pytest_llmeval.results.means import interval_of
from pytest_llmeval.results.rows import SCORED
from pytest_llmeval.results.run_files import RUN, SCHEMA, SUMMARY
from pytest_llmeval.results.statistics import mean
from pytest_llmeval.safety.regular_files import read_regular

_Kind = TypeVar("_Kind", bound=Record)

_DECIDE: Final = ("dataset", "grader:")
"""How the names of versions begin without which two accuracies are not of the same thing."""


class LineEntry(Record, frozen=True, kw_only=True):
    """The accuracy of a task under one model; `versions`: of its dataset and graders."""

    task: str
    title: str
    test: str
    model: str
    counts: Counts
    value: float | None
    low: float | None
    high: float | None
    versions: Mapping[str, tuple[str, ...]] = {}


class RunLine(Record, frozen=True, kw_only=True):
    """A run in the list.

    Attributes:
        started: when it began, in seconds since 1970; None: not told.
        models: the models under test.
        entries: its tasks and models.
        planned: number of rows that it would have if its sessions had ended.
        done: number of rows that it has.
        gate: whether a gate passed; None without one.
        cost: US dollars; None: no price is known.
        unpriced: whether the cost lacks rows without a price.
        recorded: whether all answers are recorded ones.
        again: the name of the run that was scored again; "" of an ordinary run.
        problem: why its files could not be read.
    """

    started: float | None = None
    models: tuple[str, ...] = ()
    entries: tuple[LineEntry, ...] = ()
    planned: int = 0
    done: int = 0
    gate: bool | None = None
    cost: float | None = None
    unpriced: bool = False
    recorded: bool = False
    again: str = ""
    problem: str = ""


class CountedRow(Record, frozen=True, kw_only=True):
    """The part of a row that the list counts."""

    test: str
    task: str
    sample: str
    model: str
    epoch: int
    outcome: Outcome
    usage: Usage = Usage()
    recorded: bool = False
    versions: Mapping[str, Json] = {}

    @property
    def key(self) -> RowKey:
        """The row's identity."""
        return RowKey(self.test, self.task, self.sample, self.model, self.epoch)


class _Info(Record, frozen=True, kw_only=True):
    title: str = ""


class _Task(Record, frozen=True, kw_only=True):
    name: str
    info: _Info = _Info()


class _Session(Record, frozen=True, kw_only=True):
    planned: int = 0


class _Rescored(Record, frozen=True, kw_only=True):
    run: str = ""


class RunHead(Record, frozen=True, kw_only=True):
    """The part of run.json that the list needs."""

    schema: int
    started: str = ""
    planned: int = 0
    resumed: tuple[_Session, ...] = ()
    tasks: Mapping[str, _Task] = {}
    rescored: _Rescored = _Rescored()

    @property
    def most(self) -> int:
        """The number of rows that all sessions planned."""
        return max(self.planned, *(one.planned for one in self.resumed), 0)

    @property
    def moment(self) -> float | None:
        """When the run began, in seconds since 1970; None: not told."""
        try:
            return datetime.fromisoformat(self.started).timestamp()
        except (ValueError, OverflowError):
            return None


class _Tally(Record, frozen=True, kw_only=True):
    counts: Counts
    accuracy: Mean
    usage: Usage = Usage()
    unpriced: int = 0
    recorded: int = 0


class _Entry(Record, frozen=True, kw_only=True):
    task: str
    test: str
    model: str
    info: _Info
    tally: _Tally
    versions: Mapping[str, tuple[str, ...]] = {}


class _Gate(Record, frozen=True, kw_only=True):
    passed: bool


class _Summary(Record, frozen=True, kw_only=True):
    schema: int
    entries: tuple[_Entry, ...]
    gate: _Gate | None = None


def read_head(folder: Path) -> RunHead:
    """Return what run.json tells; UsageError if it cannot be read, or is of another schema."""
    head = _read(folder / RUN, RunHead)
    if head.schema != SCHEMA:
        msg = f"{RUN}: schema {head.schema}; this version reads {SCHEMA}"
        raise UsageError(msg)
    return head


def line_of_summary(folder: Path, head: RunHead) -> RunLine:
    """Return the line of a run from its summary.json; UsageError if that cannot be read."""
    summary = _read(folder / SUMMARY, _Summary)
    tallies = [entry.tally for entry in summary.entries]
    done = sum(one.counts.planned for one in tallies)
    priced = [one.usage.cost for one in tallies if one.usage.cost is not None]
    return RunLine(
        started=head.moment,
        models=tuple(dict.fromkeys(entry.model for entry in summary.entries)),
        entries=tuple(
            LineEntry(
                task=entry.task,
                title=entry.info.title or entry.task,
                test=entry.test,
                model=entry.model,
                counts=entry.tally.counts,
                value=entry.tally.accuracy.value,
                low=entry.tally.accuracy.low,
                high=entry.tally.accuracy.high,
                versions=_deciding(entry.versions),
            )
            for entry in summary.entries
        ),
        planned=max(done, head.most),
        done=done,
        gate=None if summary.gate is None else summary.gate.passed,
        cost=fsum(priced) if priced else None,
        unpriced=any(one.unpriced for one in tallies),
        recorded=bool(done) and done == sum(one.recorded for one in tallies),
        again=head.rescored.run,
    )


def line_of_rows(head: RunHead, rows: Iterable[CountedRow]) -> RunLine:
    """Return the line of a run that has no summary of all its rows, from these."""
    listed = list(rows)
    parts: dict[tuple[str, str, str], list[CountedRow]] = defaultdict(list)
    for row in listed:
        parts[row.task, row.test, row.model].append(row)
    titles = {task.name: task.info.title for task in head.tasks.values()}
    priced = [row.usage.cost for row in listed if row.usage.cost is not None]
    return RunLine(
        started=head.moment,
        models=tuple(dict.fromkeys(row.model for row in listed)),
        entries=tuple(_entry(part, titles) for _, part in sorted(parts.items())),
        planned=max(len(listed), head.most),
        done=len(listed),
        cost=fsum(priced) if priced else None,
        unpriced=any(row.usage.requests > 0 and row.usage.cost is None for row in listed),
        recorded=bool(listed) and all(row.recorded for row in listed),
        again=head.rescored.run,
    )


def _entry(rows: list[CountedRow], titles: Mapping[str, str]) -> LineEntry:
    first, samples = rows[0], defaultdict[str, list[float]](list)
    met: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        if row.outcome in SCORED:
            samples[row.sample].append(float(row.outcome == "correct"))
        for name, version in row.versions.items():
            met[name].add(str(version))
    clusters = list(samples.values())
    low, high = interval_of(clusters, 1.0)
    return LineEntry(
        task=first.task,
        title=titles.get(first.task) or first.task,
        test=first.test,
        model=first.model,
        counts=Counts.of([row.outcome for row in rows]),
        value=mean(clusters),
        low=low,
        high=high,
        versions=_deciding({name: tuple(sorted(values)) for name, values in met.items()}),
    )


def _deciding(versions: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    return {name: values for name, values in versions.items() if name.startswith(_DECIDE)}


def _read(file: Path, kind: type[_Kind]) -> _Kind:
    try:
        data = read_regular(file, max_bytes=MAX_BYTES)
    except OSError as error:
        msg = f"{file.name}: cannot be read: {error.strerror or error}"
        raise UsageError(msg) from error
    if (found := decoded(data, kind)) is None:
        msg = f"{file.name}: is not what a run of this version writes"
        raise UsageError(msg)
    return found

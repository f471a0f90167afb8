"""Several runs, models or tasks: each compared with each, over the samples that all scored."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from pytest_llmeval.records import Row
from pytest_llmeval.results.changes import Change
from pytest_llmeval.results.compare import Pair, adjusted, pair_of
from pytest_llmeval.results.entry_key import differing_versions, rows_by_entry
from pytest_llmeval.results.figures import Counts, Figures
from pytest_llmeval.results.row_use import RowUse
from pytest_llmeval.results.rows import SCORED, latest
from pytest_llmeval.results.summarise import figures
from pytest_llmeval.results.targets import target_digest
from pytest_llmeval.results.task_info import TaskInfo

_FEWEST = 2
"""Contenders of a comparison."""


class Place(NamedTuple):
    """Where a contender's rows stand: a task as one test function ran it under a model."""

    run: str
    task: str
    test: str
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """What is compared: one model's answers to one task in one run.

    Attributes:
        place: where its rows stand.
        info: what is known of its task.
        counts: all its rows by outcome.
        scored: number of samples that it scored.
        graded: whether a score that decides says who graded; else the test's body alone did.
        figures: over the common samples.
    """

    place: Place
    info: TaskInfo
    counts: Counts
    scored: int
    graded: bool
    figures: Figures


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """Contenders over the `n` samples that each of them scored, with the same target.

    A contender that scored nothing at all takes no part, so that the others can be compared; its
    figures are those of no rows.

    `changes`: for each pair of contenders (their places, the first one smaller) the changes from
    the first to the second, of metrics that other graders cannot have moved. `versions`: what is
    not the same for all, as the value for each contender. `regraded`: the pairs whose graders
    differ.
    """

    n: int
    contenders: tuple[Contender, ...]
    changes: Mapping[tuple[int, int], tuple[Change, ...]]
    versions: Mapping[str, tuple[str, ...]]
    regraded: tuple[tuple[int, int], ...] = ()


Identity: TypeAlias = Callable[[Row], Hashable]
"""Returns what two rows must have in common to be of one sample."""


def matrices(
    runs: Mapping[str, Sequence[Row]], tasks: Mapping[str, TaskInfo] | None = None
) -> tuple[Matrix, ...]:
    """Return a matrix for each task and test function that two or more contenders ran.

    `runs` by name, `tasks` as far as they are known. The p-values of all pairs and metrics of a
    matrix are adjusted together.
    """
    parts: dict[tuple[str, str], dict[Place, list[Row]]] = defaultdict(dict)
    for place, rows in placed(runs).items():
        parts[place.task, place.test][place] = rows
    asked = all(row.question for rows in runs.values() for row in rows)
    identity = question_and_target if asked else _sample_and_target
    return tuple(
        matrix_of(contenders, identity, tasks or {})
        for _, contenders in sorted(parts.items())
        if len(contenders) >= _FEWEST
    )


def placed(runs: Mapping[str, Sequence[Row]]) -> dict[Place, list[Row]]:
    """Return the rows of runs, which are given by name, by their place."""
    return {
        Place(name, *entry): of_entry
        for name, rows in runs.items()
        for entry, of_entry in rows_by_entry(rows).items()
    }


def matrix_of(
    contenders: Mapping[Place, Sequence[Row]], identity: Identity, tasks: Mapping[str, TaskInfo]
) -> Matrix:
    """Return the matrix of contenders; within one, `identity` tells samples with other ids apart.

    `tasks` are known by name; one that is not is titled by it.
    """
    scored = [
        {identity(row) for row in rows if row.outcome in SCORED} for rows in contenders.values()
    ]
    taking_part = [own for own in scored if own]
    several = len(taking_part) >= _FEWEST
    common = set.intersection(*taking_part) if several else set[Hashable]()
    kept = [
        [row for row in rows if identity(row) in common] if own and common else []
        for rows, own in zip(contenders.values(), scored, strict=True)
    ]
    pairs = _pairs(kept)
    return Matrix(
        n=len(common),
        contenders=tuple(
            _contender(place, rows, len(own), of_all, tasks.get(place.task))
            for (place, rows), own, of_all in zip(contenders.items(), scored, kept, strict=True)
        ),
        changes={place: pair.compared for place, pair in pairs.items()},
        regraded=tuple(place for place, pair in pairs.items() if pair.regrading is not None),
        versions=differing_versions(contenders.values()),
    )


def _contender(
    place: Place, rows: Sequence[Row], scored: int, kept: Sequence[Row], info: TaskInfo | None
) -> Contender:
    known = TaskInfo(title=place.task) if info is None else info
    decided = [row for row in rows if row.outcome in SCORED]
    return Contender(
        place=place,
        info=known,
        counts=Counts.of([row.outcome for row in rows]),
        scored=scored,
        graded=not decided or any(score.decides for row in decided for score in row.scores),
        figures=figures(kept, known),
    )


def question_and_target(row: Row) -> Hashable:
    """Return what rows of one sample have in common, where what was asked is known."""
    return row.sample, row.question, target_digest(row.dataset_target)


def _sample_and_target(row: Row) -> Hashable:
    return row.sample, target_digest(row.dataset_target)


def _pairs(kept: Sequence[Sequence[Row]]) -> dict[tuple[int, int], Pair]:
    there = [place for place, rows in enumerate(kept) if rows]
    places = [(i, j) for i in there for j in there if i < j]
    pairs = adjusted([pair_of(kept[i], kept[j]) for i, j in places])
    return dict(zip(places, pairs, strict=True))


def uses_in(matrices: Sequence[Matrix], runs: Mapping[str, Sequence[Row]]) -> dict[str, RowUse]:
    """Return what matrices made of the rows of each run; `runs` by the name in their places."""
    by_run: dict[str, list[RowUse]] = {name: [] for name in runs}
    for contender in (one for matrix in matrices for one in matrix.contenders):
        counts, compared = contender.counts, contender.figures.counts.scored
        use = RowUse(
            compared=compared,
            error=counts.error,
            unscored=counts.unscored,
            not_run=counts.not_run,
            alone=counts.scored - compared,
        )
        by_run[contender.place.run].append(use)
    for name, rows in runs.items():
        placed = RowUse.total(by_run[name]).rows
        by_run[name].append(RowUse(unpaired=len(latest(rows)) - placed))
    return {name: RowUse.total(uses) for name, uses in by_run.items()}

"""Several runs or models: each compared with each, over the samples that all of them scored."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_llmeval.records import Row
from pytest_llmeval.results.changes import Change
from pytest_llmeval.results.compare import Pair, adjusted, pair_of
from pytest_llmeval.results.entry_key import differing_versions, rows_by_entry
from pytest_llmeval.results.figures import Figures
from pytest_llmeval.results.rows import SCORED
from pytest_llmeval.results.summarise import figures
from pytest_llmeval.results.targets import target_digest
from pytest_llmeval.results.task_info import TaskInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """One model in one run.

    `figures` are over the common samples; `scored` is the number of all that it scored.
    """

    run: str
    model: str
    scored: int
    figures: Figures


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """One task of all runs over the `n` samples that every contender scored, with the same target.

    `changes`: for each pair of contenders (their places, the first one smaller) the changes from
    the first to the second, of metrics that other graders cannot have moved. `versions`: what is
    not the same for all, as the value for each contender. `regraded`: the pairs whose graders
    differ.
    """

    task: str
    test: str
    n: int
    contenders: tuple[Contender, ...]
    changes: Mapping[tuple[int, int], tuple[Change, ...]]
    versions: Mapping[str, tuple[str, ...]]
    regraded: tuple[tuple[int, int], ...] = ()


def matrices(runs: Mapping[str, Sequence[Row]]) -> tuple[Matrix, ...]:
    """Return a matrix for each task and test function that two or more contenders ran.

    `runs` by name. The p-values of all pairs and metrics of a matrix are adjusted together.
    """
    parts: dict[tuple[str, str], dict[tuple[str, str], list[Row]]] = defaultdict(dict)
    for name, rows in runs.items():
        for part, of_part in rows_by_entry(rows).items():
            parts[part.task, part.test][name, part.model] = of_part
    return tuple(
        _matrix(contenders) for _, contenders in sorted(parts.items()) if len(contenders) > 1
    )


def _matrix(contenders: Mapping[tuple[str, str], list[Row]]) -> Matrix:
    scored = [_scored(rows) for rows in contenders.values()]
    common = set.intersection(*scored)
    kept = [
        [row for row in rows if (row.sample, target_digest(row.target)) in common]
        for rows in contenders.values()
    ]
    first = next(iter(contenders.values()))[0]
    pairs = _pairs(kept) if common else {}
    return Matrix(
        task=first.task,
        test=first.test,
        n=len(common),
        contenders=tuple(
            Contender(
                run=run,
                model=model,
                scored=len(own),
                figures=figures(of_all, TaskInfo(title=first.task)),
            )
            for (run, model), own, of_all in zip(contenders, scored, kept, strict=True)
        ),
        changes={place: pair.compared for place, pair in pairs.items()},
        regraded=tuple(place for place, pair in pairs.items() if pair.regrading is not None),
        versions=differing_versions(contenders.values()),
    )


def _scored(rows: Sequence[Row]) -> set[tuple[str, str]]:
    return {(row.sample, target_digest(row.target)) for row in rows if row.outcome in SCORED}


def _pairs(kept: Sequence[Sequence[Row]]) -> dict[tuple[int, int], Pair]:
    places = [(i, j) for i in range(len(kept)) for j in range(i + 1, len(kept))]
    pairs = adjusted([pair_of(kept[i], kept[j]) for i, j in places])
    return dict(zip(places, pairs, strict=True))

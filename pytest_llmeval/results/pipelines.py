"""Pipelines: tasks that asked a model the same questions, compared with each other.

Whether they are the same is seen in the rows, not declared: two rows are of one sample if id,
target and the digest of input and pictures are equal. Tasks that have such a sample in common
belong together.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from pytest_llmeval.records import Outcome, Row
from pytest_llmeval.results.graders import GRADER
from pytest_llmeval.results.matrix import (
    Matrix,
    Place,
    matrix_of,
    placed,
    question_and_target,
)
from pytest_llmeval.results.summary import Summary
from pytest_llmeval.results.task_info import TaskInfo

_FEWEST: Final = 2
"""Tasks of a comparison."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedSample:
    """A sample, and what became of it in each pipeline.

    Attributes:
        id: its id.
        target_text: its reference answer as one text.
        tags: its tags.
        rows: for each pipeline, in the order of the matrix, its rows by epoch; empty where it did
            not ask the sample.
    """

    id: str
    target_text: str
    tags: tuple[str, ...]
    rows: tuple[Mapping[int, Row], ...]

    @property
    def outcomes(self) -> tuple[Mapping[int, Outcome], ...]:
        """The outcomes by epoch, for each pipeline."""
        return tuple(
            {epoch: row.outcome for epoch, row in sorted(of_one.items())} for of_one in self.rows
        )

    @property
    def epochs(self) -> tuple[int, ...]:
        """The epochs that one of the pipelines has."""
        return tuple(sorted({epoch for of_one in self.rows for epoch in of_one}))

    @property
    def differs(self) -> bool:
        """Whether the pipelines that asked it came to different outcomes."""
        asked = {tuple(outcomes.values()) for outcomes in self.outcomes if outcomes}
        return len(asked) > 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipelines:
    """The pipelines of one model: their matrix, and all samples that one of them asked."""

    model: str
    matrix: Matrix
    samples: tuple[AskedSample, ...]


def pipelines_of(rows: Sequence[Row], summary: Summary) -> tuple[Pipelines, ...]:
    """Return the pipelines of one run, of which `summary` is that of its rows."""
    return pipelines({"": rows}, {entry.task: entry.info for entry in summary.entries})


def pipelines(
    runs: Mapping[str, Sequence[Row]], tasks: Mapping[str, TaskInfo]
) -> tuple[Pipelines, ...]:
    """Return, for each model, the pipelines over each set of samples that several tasks asked.

    `runs` and `tasks` by name. The p-values of one model's pipelines are adjusted together.
    """
    by_model: dict[str, dict[Place, list[Row]]] = {}
    for place, rows in sorted(placed(runs).items()):
        if known := [row for row in rows if row.question]:
            by_model.setdefault(place.model, {})[place] = known
    return tuple(
        _compared(model, family, tasks)
        for model, parts in by_model.items()
        for family in _families(parts)
        if len({place.task for place in family}) >= _FEWEST
    )


def _families(parts: Mapping[Place, list[Row]]) -> Iterator[dict[Place, list[Row]]]:
    """Yield the parts that have samples in common, directly or by way of others."""
    families: list[tuple[set[Hashable], list[Place]]] = []
    for place, rows in parts.items():
        asked, places = set(map(question_and_target, rows)), [place]
        apart = []
        for family in families:
            if family[0].isdisjoint(asked):
                apart.append(family)
            else:
                asked |= family[0]
                places += family[1]
        families = [*apart, (asked, places)]
    for _, places in sorted(families, key=lambda family: min(family[1])):
        yield {place: parts[place] for place in sorted(places)}


def _compared(
    model: str, family: Mapping[Place, list[Row]], tasks: Mapping[str, TaskInfo]
) -> Pipelines:
    matrix = matrix_of(family, question_and_target, tasks)
    # Prompts and settings are what pipelines differ in.
    versions = {name: of for name, of in matrix.versions.items() if name.startswith(GRADER)}
    return Pipelines(
        model=model,
        matrix=replace(matrix, versions=versions),
        samples=tuple(_asked(list(family.values()))),
    )


def _asked(parts: Sequence[Sequence[Row]]) -> Iterator[AskedSample]:
    """Yield the samples in the order in which the first pipeline that asked one has it."""
    found: dict[Hashable, tuple[dict[int, Row], ...]] = {}
    for place, rows in enumerate(parts):
        for row in rows:
            of_sample = found.setdefault(question_and_target(row), tuple({} for _ in parts))
            of_sample[place][row.epoch] = row
    for of_sample in found.values():
        first = next(row for of_one in of_sample for row in of_one.values())
        yield AskedSample(
            id=first.sample, target_text=first.target_text, tags=first.tags, rows=of_sample
        )

"""Pipelines in ``summary.json``: figures over common samples, and all paired differences."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_llmeval.records import Record
from pytest_llmeval.results.figures import Counts, Figures
from pytest_llmeval.results.matrix import Matrix
from pytest_llmeval.results.pipelines import Pipelines


class PipelineFigures(Record, frozen=True, kw_only=True, rename={"figures": "tally"}):
    """One pipeline: all its rows by outcome, and the figures of those of the common samples.

    `scored` is the number of samples that it scored.
    """

    task: str
    test: str
    counts: Counts
    scored: int
    figures: Figures


class PipelineDifference(Record, frozen=True, kw_only=True):
    """A metric's difference `b - a` between the pipelines `a` and `b`, by their places in the list.

    Attributes:
        a: place of the first, from 0.
        b: place of the second.
        metric: its name.
        scale: its highest value.
        n: number of paired samples.
        difference: the mean of the samples' differences, in -`scale`..`scale`.
        low: lower end of its 95 % interval.
        high: upper end.
        p_value: two-sided.
        adjusted: the p-value after Holm, for all pairs and metrics of these pipelines.
    """

    a: int
    b: int
    metric: str
    scale: float
    n: int
    difference: float
    low: float
    high: float
    p_value: float
    adjusted: float | None


class PipelineTable(Record, frozen=True, kw_only=True):
    """The pipelines that asked one model the same questions.

    Attributes:
        model: the model.
        n: number of samples that all of them scored, but for those that scored none.
        pipelines: the pipelines, by name of task.
        differences: of each pair, of the metrics that other graders cannot have moved.
        regraded: the pairs whose graders differ, by their places.
    """

    model: str
    n: int
    pipelines: tuple[PipelineFigures, ...]
    differences: tuple[PipelineDifference, ...]
    regraded: tuple[tuple[int, int], ...] = ()


def pipeline_table(found: Pipelines) -> PipelineTable:
    """Return pipelines as they stand in ``summary.json``; their samples stand in a CSV file."""
    return PipelineTable(
        model=found.model,
        n=found.matrix.n,
        pipelines=tuple(
            PipelineFigures(
                task=one.place.task,
                test=one.place.test,
                counts=one.counts,
                scored=one.scored,
                figures=one.figures,
            )
            for one in found.matrix.contenders
        ),
        differences=tuple(_differences(found.matrix)),
        regraded=found.matrix.regraded,
    )


def _differences(matrix: Matrix) -> Iterator[PipelineDifference]:
    for (a, b), changes in matrix.changes.items():
        for change in changes:
            yield PipelineDifference(
                a=a,
                b=b,
                metric=change.name,
                scale=change.scale,
                n=change.n,
                difference=change.difference,
                low=change.low,
                high=change.high,
                p_value=change.p_value,
                adjusted=change.adjusted,
            )

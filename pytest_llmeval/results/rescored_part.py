"""Old scores against new, paired by sample, for one part of a run that was scored again."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_llmeval.records import Record, Row
from pytest_llmeval.results.changes import Change
from pytest_llmeval.results.compare import Pair, compare
from pytest_llmeval.results.entry_key import EntryKey, rows_by_entry
from pytest_llmeval.results.figures import Counts


class MetricStep(Record, frozen=True, kw_only=True):
    """Accuracy or a mean score before and after, over `n` samples scored both times.

    The numbers are those of `Change`, which ``llmeval compare OLD NEW`` shows.

    Attributes:
        name: of the metric.
        scale: the highest value.
        n: number of samples.
        before: its mean then.
        after: its mean now.
        low: lower end of the interval of the difference after - before.
        high: upper end.
        p_value: two-sided; below 1 - confidence if and only if the interval leaves 0 out.
        adjusted: the p-value after Holm, for all metrics and parts together.
        confidence: level of the interval.
    """

    name: str
    scale: float
    n: int
    before: float
    after: float
    low: float
    high: float
    p_value: float
    adjusted: float | None
    confidence: float

    @classmethod
    def of(cls, change: Change) -> MetricStep:
        """Return the step that a change is."""
        return cls(
            name=change.name,
            scale=change.scale,
            n=change.n,
            before=change.a,
            after=change.b,
            low=change.low,
            high=change.high,
            p_value=change.p_value,
            adjusted=change.adjusted,
            confidence=change.confidence,
        )

    @property
    def difference(self) -> float:
        """After - before."""
        return self.after - self.before


class RescoredPart(Record, frozen=True, kw_only=True):
    """One task under one model, then and now.

    Attributes:
        task: name of the task.
        test: node id of the test function.
        model: the model whose answers they are.
        steps: of accuracy and of each score that both have; () without a sample scored twice.
        gained: number of samples that are correct more often now.
        lost: number of samples that are correct less often now.
        before: outcomes then, of all rows.
        after: outcomes now.
    """

    task: str
    test: str
    model: str
    steps: tuple[MetricStep, ...]
    gained: int
    lost: int
    before: Counts
    after: Counts


def rescored_parts(before: Sequence[Row], after: Sequence[Row]) -> tuple[RescoredPart, ...]:
    """Return the parts that rows have in common with those that were scored again from them."""
    old, new = rows_by_entry(before), rows_by_entry(after)
    return tuple(
        _part(pair, old[key], new[key])
        for pair in compare(before, after).pairs
        if (key := EntryKey(pair.task, pair.test, pair.model_b)) in old
    )


def _part(pair: Pair, old: Sequence[Row], new: Sequence[Row]) -> RescoredPart:
    return RescoredPart(
        task=pair.task,
        test=pair.test,
        model=pair.model_b,
        steps=tuple(map(MetricStep.of, pair.changes)),
        gained=len(pair.gained),
        lost=len(pair.lost),
        before=Counts.of([row.outcome for row in old]),
        after=Counts.of([row.outcome for row in new]),
    )

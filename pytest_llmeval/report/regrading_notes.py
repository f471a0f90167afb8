"""Notes below a comparison or a table when more than one grader decided its scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import fsum
from typing import Final

from pytest_llmeval.report.clean import clean
from pytest_llmeval.report.metric_text import metric_head, metric_value
from pytest_llmeval.report.sheet import Block, Label, column_of
from pytest_llmeval.results.compare import Pair
from pytest_llmeval.results.graders import GraderShare
from pytest_llmeval.results.regrading import Moved

_WHOSE: Final = {
    "same": "with the same answer: the graders' part",
    "other": "with another answer: model and graders together",
    "unknown": "whose answers are not stored: model and graders together",
}


def uncompared_block(pair: Pair) -> Block | None:
    """Return the metrics that other graders may have moved, without a difference; None for none."""
    compared = pair.compared
    found = [change for change in pair.changes if change not in compared]
    if not found:
        return None
    return Block(
        title="graders differ: not compared",
        labels=tuple(Label(text=metric_head(change)) for change in found),
        units=(
            (column_of("a", [metric_value(change.a, change) for change in found]),),
            (column_of("b", [metric_value(change.b, change) for change in found]),),
            (column_of("n", [f"{change.n:,}" for change in found]),),
        ),
    )


def regrading_notes(pair: Pair) -> Iterator[str]:
    """Yield which graders differ, and how accuracy moved by samples with and without one answer."""
    if (found := pair.regrading) is None:
        return
    for name, (a, b) in found.graders.items():
        yield f"GRADERS DIFFER: {clean(name)} by {clean(a)} in a, by {clean(b)} in b"
    if found.unknown:
        yield "one run names only the rules: options and judges of an older version are not known"
    accuracy = next((change for change in pair.changes if change.name == "accuracy"), None)
    if found.decides and accuracy is not None:
        yield (
            f"accuracy moved {_points(accuracy.difference)} points, which are not the model's alone"
        )
        yield from map(_part, found.moved)
        if rest := pair.n - sum(moved.n for moved in found.moved):
            step = accuracy.difference - fsum(moved.step for moved in found.moved)
            yield f"{_points(step)} of them from {rest:,} samples with the same graders"
        yield "to compare, score one run's answers by the other's grader: llmeval rescore RUN"


def mixed_notes(graders: Sequence[GraderShare]) -> Iterator[str]:
    """Yield a note for each accuracy that several graders decided, with the share of each."""
    for one in graders:
        yield (
            f"MIXED GRADERS: {clean(one.score)} of {one.n:,} scored rows by {clean(one.grader)}, "
            f"{100 * one.correct / one.n:.1f} % of them correct"
        )
    if graders:
        yield "so accuracy is no single number; all by one grader: llmeval rescore RUN"


def _part(moved: Moved) -> str:
    return (
        f"{_points(moved.step)} of them from {moved.n:,} samples {_WHOSE[moved.answers]} "
        f"({moved.gained:,} gained, {moved.lost:,} lost)"
    )


def _points(step: float) -> str:
    return f"{100 * step:+.1f}"

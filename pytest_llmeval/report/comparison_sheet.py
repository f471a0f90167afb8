"""The comparison of two runs as tables."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pytest_llmeval.report import numbers
from pytest_llmeval.report.clean import clean
from pytest_llmeval.report.metric_text import Scaled, metric_head, metric_value
from pytest_llmeval.report.regrading_notes import regrading_notes, uncompared_block
from pytest_llmeval.report.sheet import Block, Cell, Column, Label, Sheet, column_of
from pytest_llmeval.results.changes import Change
from pytest_llmeval.results.compare import Comparison, Pair
from pytest_llmeval.results.graders import GRADER
from pytest_llmeval.results.rows import ENGINE

SIGNIFICANT = 0.05
"""Adjusted p-values below are shown strong."""

ENGINES_DIFFER = "ENGINES DIFFER: a difference may be theirs, and not the models'"

_IDS_SHOWN = 20

_DIGEST = re.compile(r"\b[0-9a-f]{64}\b")


def comparison_sheets(comparison: Comparison) -> tuple[Sheet, ...]:
    """Return a sheet for each pair, and one that names what has no counterpart."""
    sheets = [_sheet(pair) for pair in comparison.pairs]
    if comparison.unpaired:
        names = tuple(
            clean(f"{task} · {model} · {test.rpartition('::')[2]}")
            for task, test, model in comparison.unpaired
        )
        sheets.append(Sheet(title="without a counterpart in the other run", blocks=(), notes=names))
    return tuple(sheets)


def _sheet(pair: Pair) -> Sheet:
    same = pair.model_a == pair.model_b
    models = clean(pair.model_a) if same else f"a: {clean(pair.model_a)}, b: {clean(pair.model_b)}"
    blocks = [_block(pair.compared)] if pair.compared else []
    blocks += [uncompared] if (uncompared := uncompared_block(pair)) is not None else []
    return Sheet(
        title=f"{clean(pair.task)} · {models} · {pair.n:,} samples",
        blocks=tuple(blocks),
        notes=(*regrading_notes(pair), *_notes(pair)),
    )


def _block(changes: Sequence[Change]) -> Block:
    ends = [f"{signed(change.low, change)} to {signed(change.high, change)}" for change in changes]
    adjusted = tuple(
        Cell(
            text=p_value_text(change.adjusted), tone="strong" if is_significant(change) else "plain"
        )
        for change in changes
    )
    units = (
        (column_of("a", [metric_value(change.a, change) for change in changes]),),
        (column_of("b", [metric_value(change.b, change) for change in changes]),),
        (
            column_of("b - a", [signed(change.difference, change) for change in changes]),
            column_of(f"{100 * changes[0].confidence:g} %", ends, "quiet"),
        ),
        (
            column_of("p", [p_value_text(change.p_value) for change in changes]),
            Column(head="p (Holm)", cells=adjusted),
            column_of("n", [f"{change.n:,}" for change in changes]),
        ),
        (
            column_of("d_z", [_effect(change.effect) for change in changes]),
            column_of("would show", [_smallest(change) for change in changes]),
        ),
    )
    return Block(labels=tuple(Label(text=metric_head(change)) for change in changes), units=units)


def is_significant(change: Change) -> bool:
    """Whether a difference is significant after adjusting for all others of the comparison."""
    return change.adjusted is not None and change.adjusted < SIGNIFICANT


def signed(value: float, change: Scaled) -> str:
    """Return a difference with its sign; of accuracies in percentage points."""
    points = change.name == "accuracy"
    shown = numbers.score(abs(100 * value if points else value), 100 if points else change.scale)
    return shown if not shown.strip("0.") else f"{'+' if value > 0 else '-'}{shown}"


def _effect(value: float | None) -> str:
    return numbers.NONE if value is None else f"{value:+.2f}"


def _smallest(change: Change) -> str:
    """Return the smallest difference that would show; a dash where none would, or none is known."""
    return (
        numbers.NONE
        if change.smallest is None
        else f"± {signed(change.smallest, change).lstrip('+')}"
    )


def p_value_text(value: float | None) -> str:
    """Return a p-value with three decimals."""
    if value is None:
        return numbers.NONE
    return "<0.001" if value < 0.001 else f"{value:.3f}"  # noqa: PLR2004 - the last digit shown


def _notes(pair: Pair) -> tuple[str, ...]:
    counts = {
        "scored in a alone": pair.only_a,
        "scored in b alone": pair.only_b,
        "left out because their target changed": pair.retargeted,
        "left out because their question changed": pair.requestioned,
    }
    whose = " (graders differ)" if pair.regrading is not None and pair.regrading.decides else ""
    notes = [f"gained{whose}: {_ids(pair.gained)}", f"lost{whose}: {_ids(pair.lost)}"]
    notes += [f"samples {what}: {number:,}" for what, number in counts.items() if number]
    notes += [
        f"{clean(name)} differs: a {clean(short_version(a))}, b {clean(short_version(b))}"
        for name, (a, b) in pair.versions.items()
        if pair.regrading is None or not name.startswith(GRADER)
    ]
    notes += [ENGINES_DIFFER] if ENGINE in pair.versions else []
    return tuple(notes)


def short_version(text: str) -> str:
    """Return versions with their digests shortened to twelve digits."""
    return _DIGEST.sub(lambda match: match[0][:12], text)


def _ids(samples: Sequence[str]) -> str:
    """Return how many samples, and the first of them by id."""
    shown = ", ".join(clean(sample, 40) for sample in samples[:_IDS_SHOWN])
    more = ", …" if len(samples) > _IDS_SHOWN else ""
    return f"{len(samples):,} ({shown}{more})" if samples else "none"

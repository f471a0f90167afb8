"""The comparison of two runs as tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pytest_llmeval.report import numbers
from pytest_llmeval.report.clean import clean
from pytest_llmeval.report.metric_text import Scaled, metric_head, metric_value
from pytest_llmeval.report.regrading_notes import regrading_notes, uncompared_block
from pytest_llmeval.report.sheet import Block, Cell, Column, Label, Sheet, Tone, column_of
from pytest_llmeval.results.changes import Change
from pytest_llmeval.results.compare import Comparison, Pair
from pytest_llmeval.results.graders import GRADER
from pytest_llmeval.results.rows import ENGINE
from pytest_llmeval.results.statistics import Interval

ENGINES_DIFFER = "ENGINES DIFFER: a difference may be theirs, and not the models'"

_IDS_SHOWN = 20

_ROUNDING = 1e-12
"""What 1 - 0.95 may be off."""

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
        notes=(*regrading_notes(pair), *together_notes(pair.compared), *_notes(pair)),
    )


def _block(changes: Sequence[Change]) -> Block:
    units = (
        (column_of("a", [metric_value(change.a, change) for change in changes]),),
        (column_of("b", [metric_value(change.b, change) for change in changes]),),
        *difference_columns("b - a", changes),
        (
            column_of("d_z", [_effect(change.effect) for change in changes]),
            column_of("would show", [_smallest(change) for change in changes]),
        ),
    )
    return Block(labels=tuple(Label(text=metric_head(change)) for change in changes), units=units)


def difference_columns(head: str, changes: Sequence[Change]) -> tuple[tuple[Column, ...], ...]:
    """Return differences with interval and p, each by itself and after Holm over all of them.

    An interval leaves 0 out where the p-value beside it is below its level; those are strong.
    """
    level = f"{100 * changes[0].confidence:g} %"
    p_values = [p_value_text(change.p_value, change.confidence) for change in changes]
    after_holm = [p_value_text(change.adjusted, change.confidence) for change in changes]
    alone, among_all = (
        [change.differs for change in changes],
        [change.differs_among_all for change in changes],
    )
    return (
        (
            column_of(head, [signed(change.difference, change) for change in changes]),
            _told(level, [span(change, change.interval) for change in changes], alone, "quiet"),
            _told("p", p_values, alone),
        ),
        (
            _told(
                f"{level} (Holm)",
                [span(change, change.adjusted_interval) for change in changes],
                among_all,
                "quiet",
            ),
            _told("p (Holm)", after_holm, among_all),
            column_of("n", [f"{change.n:,}" for change in changes]),
        ),
    )


def _told(
    head: str, texts: Sequence[str], differing: Sequence[bool], tone: Tone = "plain"
) -> Column:
    """Return a column in which the cells of what differs are strong, the others of `tone`."""
    cells = (
        Cell(text=text, tone="strong" if differs else tone)
        for text, differs in zip(texts, differing, strict=True)
    )
    return Column(head=head, cells=tuple(cells))


def together_notes(changes: Sequence[Change]) -> Iterator[str]:
    """Yield what differs by itself alone, and not after Holm."""
    for change in changes:
        if change.differs and not change.differs_among_all:
            yield (
                f"{metric_head(change)} differs by itself, but not among the {change.together:,} "
                "differences of this comparison (Holm): of so many, one comes out so by chance"
            )


def signed(value: float, change: Scaled) -> str:
    """Return a difference with its sign; of accuracies in percentage points."""
    shown = _digits(value, change)
    return shown if not shown.strip("0.") else f"{'+' if value > 0 else '-'}{shown}"


def span(change: Scaled, interval: Interval | None) -> str:
    """Return an interval; an end that rounds to 0 keeps the side on which it lies."""
    if interval is None:
        return numbers.NONE
    low, high = (_end(end, change) for end in (interval.low, interval.high))
    return f"{low} to {high}"


def _end(value: float, change: Scaled) -> str:
    shown = _digits(value, change)
    if value == 0 or shown.strip("0."):
        return signed(value, change)
    return f"{'+' if value > 0 else '-'}<{shown[:-1]}1"


def _digits(value: float, change: Scaled) -> str:
    points = change.name == "accuracy"
    return numbers.score(abs(100 * value if points else value), 100 if points else change.scale)


def _effect(value: float | None) -> str:
    return numbers.NONE if value is None else f"{value:+.2f}"


def _smallest(change: Change) -> str:
    """Return the smallest difference that would show; a dash where none would, or none is known."""
    return (
        numbers.NONE
        if change.smallest is None
        else f"± {signed(change.smallest, change).lstrip('+')}"
    )


def p_value_text(value: float | None, confidence: float) -> str:
    """Return a p-value with three decimals; one below 1 - `confidence` never rounds up to it."""
    if value is None:
        return numbers.NONE
    level = 1 - confidence
    if value < level and float(f"{value:.3f}") >= level - _ROUNDING:
        return f"<{level:.3g}"
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

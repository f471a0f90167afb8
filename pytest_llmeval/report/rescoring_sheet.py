"""Answers that were scored again, as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from pytest_llmeval.report import numbers
from pytest_llmeval.report.clean import clean
from pytest_llmeval.report.comparison_sheet import p_value_text, signed, span
from pytest_llmeval.report.metric_text import metric_head, metric_value
from pytest_llmeval.report.numbers import NONE
from pytest_llmeval.report.sheet import ALWAYS, Block, Label, Sheet, column_of
from pytest_llmeval.results.rescored_part import RescoredPart
from pytest_llmeval.results.rescoring import Rescored, Rescoring
from pytest_llmeval.results.statistics import Interval

SHOWN = 50
"""Changed rows that are listed."""

SHOWN_SHORT = 10
"""The same at the end of a run."""


def rescoring_sheet(found: Rescoring) -> Sheet:
    """Return how many rows changed in its title; then old against new, the rows, and the causes."""
    return _sheet(found, [block for part in found.parts for block in _of_part(part)], SHOWN)


def short_rescoring_sheet(found: Rescoring) -> Sheet:
    """Return the same for the end of a run: one table of what moved, and the first rows."""
    return _sheet(found, _moved(found), SHOWN_SHORT)


def _sheet(found: Rescoring, blocks: Sequence[Block], most: int) -> Sheet:
    changed = found.changed
    title = (
        f"scored again from {clean(found.run)}: {len(changed):,} changed, {found.same:,} the same"
    )
    causes = Counter(cause for one in changed for cause in one.causes)
    notes = [f"cause {cause}: {number:,}" for cause, number in sorted(causes.items())]
    if len(changed) > most:
        notes.append(f"{len(changed) - most:,} more changed rows are not listed")
    notes += [f"not in that run, so without a stored reply: {found.added:,}"] if found.added else []
    notes += [f"of that run, not selected again: {found.absent:,}"] if found.absent else []
    if changed:
        several = len({part.model for part in found.parts}) > 1
        blocks = [*blocks, _block(changed[:most], with_models=several)]
    return Sheet(title=title, blocks=tuple(blocks), notes=tuple(notes))


def _moved(found: Rescoring) -> list[Block]:
    """Return a line for each figure that is another one now; no block if none is."""
    moved = [(part, step) for part in found.parts for step in part.steps if step.difference]
    if not moved:
        return []
    several = len({part.model for part in found.parts}) > 1
    names = [
        " · ".join([clean(part.task), *([clean(part.model)] if several else []), metric_head(step)])
        for part, step in moved
    ]
    steps = [step for _, step in moved]
    ends = [f"{signed(step.low, step)} to {signed(step.high, step)}" for step in steps]
    columns = (
        column_of("before", [metric_value(step.before, step) for step in steps], rank=1),
        column_of("after", [metric_value(step.after, step) for step in steps], rank=1),
        column_of("difference", [signed(step.difference, step) for step in steps], rank=ALWAYS),
        column_of(f"{100 * steps[0].confidence:g} %", ends, "quiet", rank=2),
        column_of(
            "p (Holm)", [p_value_text(step.adjusted, step.confidence) for step in steps], rank=3
        ),
        column_of("n", [numbers.count(step.n) for step in steps], rank=4),
    )
    return [Block(labels=tuple(Label(text=name) for name in names), units=(columns,))]


def _of_part(part: RescoredPart) -> Iterator[Block]:
    """Yield old against new in figures, and in outcomes."""
    name = f"{clean(part.task)} · {clean(part.model)}"
    if steps := part.steps:
        ends = [span(step, Interval(low=step.low, high=step.high)) for step in steps]
        flips = [(part.gained, part.lost) if step.name == "accuracy" else None for step in steps]
        yield Block(
            title=name,
            labels=tuple(Label(text=metric_head(step)) for step in steps),
            units=(
                (
                    column_of("before", [metric_value(step.before, step) for step in steps]),
                    column_of("after", [metric_value(step.after, step) for step in steps]),
                ),
                (
                    column_of("difference", [signed(step.difference, step) for step in steps]),
                    column_of(f"{100 * steps[0].confidence:g} %", ends, "quiet"),
                ),
                (
                    column_of("p", [p_value_text(step.p_value, step.confidence) for step in steps]),
                    column_of(
                        "p (Holm)", [p_value_text(step.adjusted, step.confidence) for step in steps]
                    ),
                    column_of("n", [numbers.count(step.n) for step in steps]),
                ),
                (
                    column_of("gained", [numbers.count(f[0]) if f else NONE for f in flips]),
                    column_of("lost", [numbers.count(f[1]) if f else NONE for f in flips]),
                ),
            ),
        )
    both = (part.before, part.after)
    outcomes = {
        "correct": [one.correct for one in both],
        "incorrect": [one.incorrect for one in both],
        "error": [one.error for one in both],
        "unscored": [one.unscored for one in both],
        "not run": [one.not_run for one in both],
    }
    yield Block(
        title="" if part.steps else name,
        labels=(Label(text="before"), Label(text="after")),
        units=tuple(
            (column_of(outcome, map(numbers.count, counts)),)
            for outcome, counts in outcomes.items()
            if any(counts)
        ),
    )


def _block(rows: tuple[Rescored, ...], *, with_models: bool) -> Block:
    units = (
        (
            column_of("before", [one.before for one in rows]),
            column_of("after", [one.after for one in rows]),
        ),
        (column_of("scores", [clean(_scores(one)) for one in rows]),),
        (column_of("cause", [", ".join(one.causes) for one in rows]),),
    )
    names = [_name(one, with_model=with_models) for one in rows]
    return Block(labels=tuple(Label(text=name) for name in names), units=units)


def _name(one: Rescored, *, with_model: bool) -> str:
    model = f" {clean(one.key.model, 30)}" if with_model else ""
    epoch = f" e{one.key.epoch}" if one.key.epoch > 1 else ""
    return f"{clean(one.key.task, 30)}{model} {clean(one.key.sample, 30)}{epoch}"


def _scores(one: Rescored) -> str:
    return (
        ", ".join(
            f"{name} {_number(old)} → {_number(new)}" for name, (old, new) in one.scores.items()
        )
        or NONE
    )


def _number(value: float | None) -> str:
    return NONE if value is None else f"{value:.4g}"

"""Answers that were scored again, as a table."""

from __future__ import annotations

from collections import Counter

from pytest_llmeval.report.clean import clean
from pytest_llmeval.report.numbers import NONE
from pytest_llmeval.report.sheet import Block, Label, Sheet, column_of
from pytest_llmeval.results.rescoring import Rescored, Rescoring

SHOWN = 50
"""Changed rows that are listed."""


def rescoring_sheet(found: Rescoring) -> Sheet:
    """Return how many scores changed in its title, the rows, and the causes."""
    changed = found.changed
    title = (
        f"scored again from {clean(found.run)}: {len(changed):,} changed, {found.same:,} the same"
    )
    causes = Counter(cause for one in changed for cause in one.causes)
    notes = [f"cause {cause}: {number:,}" for cause, number in sorted(causes.items())]
    notes += (
        [f"{len(changed) - SHOWN:,} more changed rows are not listed"]
        if len(changed) > SHOWN
        else []
    )
    notes += [f"not in that run, so without a stored reply: {found.added:,}"] if found.added else []
    notes += [f"of that run, not selected again: {found.absent:,}"] if found.absent else []
    return Sheet(
        title=title, blocks=(_block(changed[:SHOWN]),) if changed else (), notes=tuple(notes)
    )


def _block(rows: tuple[Rescored, ...]) -> Block:
    units = (
        (
            column_of("before", [one.before for one in rows]),
            column_of("after", [one.after for one in rows]),
        ),
        (column_of("scores", [clean(_scores(one)) for one in rows]),),
        (column_of("cause", [", ".join(one.causes) for one in rows]),),
    )
    return Block(labels=tuple(Label(text=_name(one)) for one in rows), units=units)


def _name(one: Rescored) -> str:
    epoch = f" e{one.key.epoch}" if one.key.epoch > 1 else ""
    return f"{clean(one.key.task, 30)} {clean(one.key.sample, 30)}{epoch}"


def _scores(one: Rescored) -> str:
    return (
        ", ".join(
            f"{name} {_number(old)} → {_number(new)}" for name, (old, new) in one.scores.items()
        )
        or NONE
    )


def _number(value: float | None) -> str:
    return NONE if value is None else f"{value:.4g}"

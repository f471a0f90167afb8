"""How many samples a gate takes, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_llmeval.report.clean import clean
from pytest_llmeval.report.numbers import NONE
from pytest_llmeval.report.sheet import Block, Label, Sheet, column_of
from pytest_llmeval.results.sample_size import SampleSize

_LONGEST_NOTE = 200


def sample_size_sheet(title: str, note: str, sizes: Sequence[SampleSize]) -> Sheet:
    """Return a line for each number of epochs; `title` says of what, `note` by which flips."""
    units = (
        (
            column_of("to pass", [f"{one.to_pass:,}" for one in sizes]),
            column_of("requests", [f"{one.to_pass * one.epochs:,}" for one in sizes], "quiet"),
        ),
        (
            column_of("to show", [f"{one.to_show:,}" for one in sizes]),
            column_of("requests", [f"{one.to_show * one.epochs:,}" for one in sizes], "quiet"),
        ),
        *(
            [(column_of("smallest max_drop", [_drop(one.smallest) for one in sizes]),)]
            if any(one.smallest is not None for one in sizes)
            else []
        ),
    )
    labels = tuple(
        Label(text=f"{one.epochs} epoch{'s' if one.epochs > 1 else ''}") for one in sizes
    )
    block = Block(labels=labels, units=units)
    return Sheet(title=clean(title), blocks=(block,), notes=(clean(note, _LONGEST_NOTE),))


def _drop(value: float | None) -> str:
    return NONE if value is None else f"{value:.3f}"

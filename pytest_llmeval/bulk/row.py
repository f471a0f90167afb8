"""A row on its way to a scoring child, and what comes back."""

from __future__ import annotations

import msgspec

from pytest_llmeval.records import Json, Target


class Row(msgspec.Struct, frozen=True, array_like=True):
    """What a scorer sees of a row of the table.

    Attributes:
        id: the cell of the column of ids, or the row's number in the table, from 0.
        answer: the text to score; None for an empty cell.
        target: the reference answer.
        input: the question; "" without such a column.
        metadata: the further cells that the user names.
        problem: why the row cannot be scored; "" if it can.
    """

    id: str
    answer: str | None
    target: Target
    input: str = ""
    metadata: dict[str, Json] = {}
    problem: str = ""


class Found(msgspec.Struct, frozen=True, array_like=True):
    """One score of one row: a cell in each of its five columns.

    Attributes:
        value: the score's value, in 0..its scale; None if it is undecided or failed.
        correct: None if it is undecided or failed.
        explanation: why, as the scorer says; None for none.
        error: why there is no score; None if there is one, also an undecided one.
        grader: the rules and options that decided; None if the row is an error.
    """

    value: float | None = None
    correct: bool | None = None
    explanation: str | None = None
    error: str | None = None
    grader: str | None = None

"""The columns that a scorer adds to a table, with their types."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from pytest_llmeval.bulk.row import Found
from pytest_llmeval.errors import UsageError

TYPES = {
    "value": pa.float64(),
    "correct": pa.bool_(),
    "explanation": pa.string(),
    "error": pa.string(),
    "grader": pa.string(),
}
"""The columns of a score, named ``NAME.value`` and so on; see `Found` for what they hold."""


def score_schema(names: Sequence[str]) -> pa.Schema:
    """Return the columns of the scores with these names."""
    return pa.schema([(f"{name}.{part}", kind) for name in names for part, kind in TYPES.items()])


def score_table(found: Sequence[Sequence[Found]], names: Sequence[str]) -> pa.Table:
    """Return the scores of rows as columns; each row has a score of each name."""
    columns = [
        pa.array([getattr(scores[place], part) for scores in found], kind)
        for place in range(len(names))
        for part, kind in TYPES.items()
    ]
    return pa.Table.from_arrays(columns, schema=score_schema(names))


def check_new(names: Sequence[str], schema: pa.Schema) -> None:
    """Raise UsageError if a table has a column already that a score would add."""
    for column in score_schema(names).names:
        if column in schema.names:
            name = column.rpartition(".")[0]
            msg = (
                f"there is a column {column!r} already; drop it, or give the scorer another name, "
                f"as in --scorer '{{exact: {{name: {name}2}}}}'"
            )
            raise UsageError(msg)

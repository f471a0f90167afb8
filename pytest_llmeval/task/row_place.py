"""The position of a row in a dataset file, for error messages."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from pytest_llmeval.errors import TaskError

Columns: TypeAlias = Mapping[str, Any]
"""A row's values by the names of its columns."""


@dataclass(frozen=True, slots=True)
class RowPlace:
    """The position of a row.

    Attributes:
        file: the file that holds it.
        line: its line from 1; None in formats without lines, such as Parquet.
        number: its number in the dataset, from 1.
    """

    file: Path
    line: int | None
    number: int

    def error(self, column: str | None, problem: str) -> TaskError:
        """Return an error that names file, line, row and, unless None, the column."""
        return TaskError(
            f"row {self.number}: {problem}", file=self.file, line=self.line, key=column
        )

    def lacks(self, column: str, row: Iterable[str], hint: str = "") -> MissingColumnError:
        """Return the error of a row without a column; `hint` ends its message."""
        problem = f"row {self.number}: {missing(column, row)}{hint}"
        return MissingColumnError(problem, file=self.file, line=self.line, key=column)


class MissingColumnError(TaskError):
    """A row lacks the column `key`."""


def missing(column: str, row: Iterable[str]) -> str:
    """Return the problem with a column that a row lacks: the nearest name, and all names."""
    near = difflib.get_close_matches(column, row, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return f"there is no column {column!r}{hint} (columns: {', '.join(row)})"

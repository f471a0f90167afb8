"""The wrong rows of a dataset, which are told together."""

from __future__ import annotations

from typing import Final

from pytest_llmeval.errors import LLMEvalError, TaskError
from pytest_llmeval.task.model import Task
from pytest_llmeval.task.row_place import MissingColumnError

SHOWN: Final = 20
"""Wrong rows of which the message has a line each; the others are counted."""


class WrongRows:
    """Collects the errors of a dataset's rows."""

    def __init__(self, task: Task) -> None:
        """Collect for the dataset of `task`."""
        self._task = task
        self._first: list[TaskError] = []
        self._count = 0
        self._lacking: set[str | None] = set()

    def add(self, error: TaskError) -> None:
        """Add the error of one row."""
        self._count += 1
        self._lacking.add(error.key if isinstance(error, MissingColumnError) else None)
        if self._count <= SHOWN:
            self._first.append(error)

    def check(self, rows: int) -> None:
        """Raise the error of all wrong rows, if there are any.

        Args:
            rows: number of rows that were read as samples.

        Raises:
            LLMEvalError: a column that all rows lack, with the place in the task file that names
                it; or a TaskError with a line for each wrong row.
        """
        if not self._count:
            return
        column = next(iter(self._lacking))
        if self._count == rows and len(self._lacking) == 1 and column is not None:
            raise self._misnamed(column)
        raise TaskError.together(self._first, more=self._count - len(self._first))

    def _misnamed(self, column: str) -> LLMEvalError:
        """Return the error for a column that no row has, at the place that names it."""
        first = self._first[0]
        where = first.file if first.line is None else f"{first.file}:{first.line}"
        return self._task.error(
            f"names the column {column!r}, which no row has; {where}: {first.problem}",
            *self._place_of(column),
        )

    def _place_of(self, column: str) -> tuple[str | int, ...]:
        fields = self._task.dataset.fields
        for name, value in fields.model_dump().items():
            if value == column or (isinstance(value, tuple) and column in value):
                return ("dataset", "fields", name)
            if isinstance(value, dict) and column in value.values():
                inner = next(key for key, named in value.items() if named == column)
                return ("dataset", "fields", name, inner)
        if self._task.choices is not None and self._task.choices.column == column:
            return ("choices", "column")
        return ("group_by",)

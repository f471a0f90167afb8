"""Selection of a dataset's rows by `Dataset.keep` and `Dataset.unique`."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from jinja2 import TemplateError, TemplateSyntaxError

from pytest_llmeval.errors import TaskError
from pytest_llmeval.task.model import Task
from pytest_llmeval.task.row_place import Columns, RowPlace, missing
from pytest_llmeval.task.templates import compile_expression


class Selection:
    """Selects rows one after another; it stores the values of `unique` that were seen."""

    def __init__(self, task: Task) -> None:
        """Compile `keep`; TaskError when it is not a jinja2 expression."""
        self._task, self._unique = task, task.dataset.unique
        self._keep = _compiled(task, task.dataset.keep) if task.dataset.keep is not None else None
        self._fields = {
            name: getattr(task.dataset.fields, name) for name in ("id", "input", "target")
        }
        self._seen: set[str | tuple[str]] = set()

    def takes(self, place: RowPlace, row: Columns) -> bool:
        """Return whether the row is selected; TaskError when `keep` or `unique` fails on it."""
        named = {
            **row,
            **{field: row[column] for field, column in self._fields.items() if column in row},
        }
        return self._keeps(place, named) and self._is_new(place, named)

    def _keeps(self, place: RowPlace, named: Columns) -> bool:
        if self._keep is None:
            return True
        try:
            return bool(self._keep(named))
        except (TemplateError, TypeError, ValueError, ArithmeticError) as error:
            problem = f"row {place.number}: {self._task.dataset.keep!r} fails: {error}"
            raise _error(self._task, problem, "keep") from None

    def _is_new(self, place: RowPlace, named: Columns) -> bool:
        if self._unique is None:
            return True
        if self._unique not in named:
            problem = f"row {place.number}: {missing(self._unique, named)}"
            raise _error(self._task, problem, "unique")
        value = named[self._unique]
        known = (
            value if isinstance(value, str) else (json.dumps(value, sort_keys=True, default=str),)
        )
        is_new = known not in self._seen
        self._seen.add(known)
        return is_new


def _compiled(task: Task, keep: str) -> Callable[..., Any]:
    try:
        return compile_expression(keep)
    except TemplateSyntaxError as error:
        problem = f"{keep!r} is not a jinja2 expression: {error.message}"
        raise _error(task, problem, "keep") from None


def _error(task: Task, problem: str, key: str) -> TaskError:
    return TaskError(problem, file=task.file, line=task.line("dataset", key), key=f"dataset.{key}")

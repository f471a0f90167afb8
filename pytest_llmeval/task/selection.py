"""Which rows of a dataset count: those that `keep` holds for, and of equal ones by `unique` the first."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from jinja2 import TemplateError, TemplateSyntaxError

from pytest_llmeval.errors import TaskError
from pytest_llmeval.task.model import Task
from pytest_llmeval.task.rows import Columns, Place, missing
from pytest_llmeval.task.templates import compile_expression


class Selection:
    """Decides row after row, and remembers what it has let through."""

    def __init__(self, task: Task) -> None:
        """Take `keep` and `unique` of the task's dataset; TaskError when `keep` is no jinja2 expression."""
        self._task, self._unique = task, task.dataset.unique
        self._keep = _compiled(task, task.dataset.keep) if task.dataset.keep is not None else None
        self._fields = {
            name: getattr(task.dataset.fields, name) for name in ("id", "input", "target")
        }
        self._seen: set[str | tuple[str]] = set()

    def takes(self, place: Place, row: Columns) -> bool:
        """Return whether the row counts; TaskError when that cannot be told."""
        named = {
            **row,
            **{field: row[column] for field, column in self._fields.items() if column in row},
        }
        return self._keeps(place, named) and self._is_new(place, named)

    def _keeps(self, place: Place, named: Columns) -> bool:
        if self._keep is None:
            return True
        try:
            return bool(self._keep(named))
        except (TemplateError, TypeError, ValueError, ArithmeticError) as error:
            problem = f"row {place.number}: {self._task.dataset.keep!r} fails: {error}"
            raise _error(self._task, problem, "keep") from None

    def _is_new(self, place: Place, named: Columns) -> bool:
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
        problem = f"{keep!r} is no jinja2 expression: {error.message}"
        raise _error(task, problem, "keep") from None


def _error(task: Task, problem: str, key: str) -> TaskError:
    return TaskError(problem, file=task.file, line=task.line("dataset", key), key=f"dataset.{key}")

"""Selection of a dataset's rows by `Dataset.keep` and `Dataset.unique`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Final

from jinja2 import TemplateError, TemplateSyntaxError

from pytest_llmeval.errors import LLMEvalError
from pytest_llmeval.task.model import Task
from pytest_llmeval.task.row_place import Columns, RowPlace, missing
from pytest_llmeval.templates.child import RowFailure, TemplateLimitError, run_limited
from pytest_llmeval.templates.language import compile_expression, is_plain_expression

_BATCH: Final = 500
"""Rows that are evaluated in the child at a time."""

_Placed = tuple[RowPlace, Columns]


class Selection:
    """Selects rows one after another; it stores the values of `unique` that were seen."""

    def __init__(self, task: Task) -> None:
        """Read `keep`; an error with its place when it is not a jinja2 expression."""
        self._task, self._unique, self._keep = task, task.dataset.unique, task.dataset.keep
        self._fields = {
            name: getattr(task.dataset.fields, name) for name in ("id", "input", "target")
        }
        self._seen: set[str | tuple[str]] = set()
        try:
            self._is_plain = self._keep is None or is_plain_expression(self._keep)
        except TemplateSyntaxError as error:
            problem = f"{self._keep!r} is not a jinja2 expression: {error.message}"
            raise self._error(problem, "keep") from None

    def selected(self, rows: Iterable[_Placed]) -> Iterator[_Placed]:
        """Yield the selected rows.

        Raises:
            LLMEvalError: `keep` or `unique` fails on a row, or `keep` takes too much time.
        """
        for place, row in rows if self._keep is None else self._kept(self._keep, rows):
            if self._is_new(place, self._named(row)):
                yield place, row

    def _named(self, row: Columns) -> dict[str, Any]:
        """Return the columns, with those of id, input and target by these names too."""
        fields = {
            field: row[column] if column in row else row.get(column[:-1])
            for field, column in self._fields.items()
            if column is not None and (column in row or column.endswith("?"))
        }
        return {**row, **fields}

    def _kept(self, keep: str, rows: Iterable[_Placed]) -> Iterator[_Placed]:
        if not self._is_plain:
            yield from self._kept_by_child(keep, rows)
            return
        evaluate = compile_expression(keep)
        for place, row in rows:
            try:
                is_kept = bool(evaluate(self._named(row)))
            except (TemplateError, TypeError, ValueError, ArithmeticError) as error:
                raise self._failed(place, str(error)) from None
            if is_kept:
                yield place, row

    def _kept_by_child(self, keep: str, rows: Iterable[_Placed]) -> Iterator[_Placed]:
        iterator = iter(rows)
        while batch := list(islice(iterator, _BATCH)):
            try:
                found = run_limited("expression", keep, [self._named(row) for _, row in batch])
            except TemplateLimitError as limit:
                problem = f"{keep!r} {limit}"
                raise self._error(problem, "keep") from None
            for (place, row), is_kept in zip(batch, found, strict=True):
                if isinstance(is_kept, RowFailure):
                    raise self._failed(place, is_kept.message)
                if is_kept:
                    yield place, row

    def _failed(self, place: RowPlace, message: str) -> LLMEvalError:
        return self._error(f"row {place.number}: {self._keep!r} fails: {message}", "keep")

    def _is_new(self, place: RowPlace, named: Columns) -> bool:
        if self._unique is None:
            return True
        if self._unique not in named:
            problem = f"row {place.number}: {missing(self._unique, named)}"
            raise self._error(problem, "unique")
        value = named[self._unique]
        known = (
            value if isinstance(value, str) else (json.dumps(value, sort_keys=True, default=str),)
        )
        is_new = known not in self._seen
        self._seen.add(known)
        return is_new

    def _error(self, problem: str, key: str) -> LLMEvalError:
        return self._task.error(problem, "dataset", key)

"""From a task's dataset file to its samples, everything checked before a request is paid for."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from pytest_llmeval.errors import TaskError
from pytest_llmeval.files.pictures import keep, own_folder
from pytest_llmeval.records import Json, Sample
from pytest_llmeval.records.message import media_type_of
from pytest_llmeval.task.model import Task
from pytest_llmeval.task.rows import Columns, Place, folder_reader, missing, read_rows
from pytest_llmeval.task.selection import Selection

_HEAD = 16
"""Bytes of a picture that show its format."""


def read_samples(task: Task, *, limit: int | None = None) -> tuple[Sample, ...]:
    """Return the samples of `task` in the order of its dataset file, the first `limit` of them.

    The whole file is checked whatever the limit: TaskError names file, row (and line, where the
    format has lines), column and value of the first thing wrong.
    """
    reader = _Reader(task)
    samples = tuple(reader.samples())
    if not samples:
        kept = (
            f", and dataset.keep ({task.dataset.keep}) lets none through"
            if task.dataset.keep
            else ""
        )
        raise _at(task.dataset.path, f"has no samples: {reader.rows} rows{kept}")
    return samples[:limit]


def dataset_digest(task: Task) -> str:
    """Return the sha256 of the dataset file's bytes, which identifies public datasets.

    Of a folder it is a hash of those of the rows' files, in their order.
    """
    path = task.dataset.path
    if path.is_dir():
        digests = "".join(_digest(file) for file in folder_reader(path).files(path))
        return hashlib.sha256(digests.encode()).hexdigest()
    return _digest(path)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sample_groups(task: Task, sample: Sample) -> dict[str, tuple[str, ...]]:
    """Return the sample's values of each column that the task groups by: one, or those of a list."""
    return {
        name: _group(sample.metadata[name]) for name in task.group_by if name in sample.metadata
    }


def _group(value: Json) -> tuple[str, ...]:
    return tuple(str(part) for part in value) if isinstance(value, list) else (str(value),)


class _Reader:
    """Reads one task's dataset: columns to fields, row by row, remembering what must not come twice."""

    def __init__(self, task: Task) -> None:
        self._task, self._dataset, self._fields = task, task.dataset, task.dataset.fields
        self.rows = 0
        self._ids: dict[str, Place] = {}
        dataset = task.dataset
        selects = dataset.keep is not None or dataset.unique is not None
        self._selection = Selection(task) if selects else None

    def samples(self) -> Iterator[Sample]:
        """Yield the samples that are kept."""
        for place, row in read_rows(self._dataset.path, self._dataset.rows):
            self.rows += 1
            if self._selection is None or self._selection.takes(place, row):
                yield self._sample(place, row)

    def _sample(self, place: Place, row: Columns) -> Sample:
        sample_id = self._id(place, row)
        if (first := self._ids.setdefault(sample_id, place)) is not place:
            where = f"row {first.number}" if first.line is None else f"line {first.line}"
            raise place.error(self._fields.id, f"the id {sample_id!r} stands here and in {where}")
        target = self._text(place, row, self._fields.target, "target")
        self._check_target(place, target)
        return Sample(
            id=sample_id,
            input=self._text(place, row, self._fields.input, "input"),
            target=target,
            images=tuple(self._images(place, row)),
            tags=tuple(self._tags(place, row)),
            metadata=self._metadata(place, row),
        )

    def _check_target(self, place: Place, target: str) -> None:
        for declared in self._task.scorers:
            try:
                declared.scorer.check(target)
            except ValueError as error:
                raise place.error(self._fields.target, str(error)) from None

    def _id(self, place: Place, row: Columns) -> str:
        if self._fields.id is None:
            return str(place.number - 1)
        value = _required(place, row, self._fields.id)
        if type(value) not in {str, int} or not str(value).strip():
            raise place.error(
                self._fields.id, f"the id is {_shown(value)}; it must be text or a whole number"
            )
        return _unicode(place, str(value).strip(), self._fields.id)

    def _text(self, place: Place, row: Columns, column: str, field: str) -> str:
        value = _required(place, row, column)
        if type(value) in {int, float}:
            value = str(value)
        if value is None or (isinstance(value, str) and not value.strip()):
            raise place.error(
                column, f"the {field} is empty; drop such rows with dataset.keep: \"{field} != ''\""
            )
        if not isinstance(value, str):
            raise place.error(column, f"the {field} is {_shown(value)}; it must be text (quote it)")
        return _unicode(place, value, column)

    def _tags(self, place: Place, row: Columns) -> Iterator[str]:
        for column in self._fields.tags:
            for value in _several(_optional(place, row, column)):
                if type(value) not in {str, int} or not str(value).strip():
                    raise place.error(column, f"the tag {_shown(value)} is no text")
                yield _unicode(place, str(value).strip(), column)

    def _metadata(self, place: Place, row: Columns) -> dict[str, Json]:
        columns = {**{name: name for name in self._task.group_by}, **self._fields.metadata}
        values = {name: (column, _optional(place, row, column)) for name, column in columns.items()}
        return {
            name: _json(place, value, column)
            for name, (column, value) in values.items()
            if value is not None
        }

    def _images(self, place: Place, row: Columns) -> Iterator[str]:
        for column in self._fields.images:
            values = _several(_optional(place, row, column))
            if not values and not column.endswith("?"):
                hint = f"write {column + '?'!r} for rows that may have none, or drop them with dataset.keep: {column}"
                raise place.error(column, f"there is no image; {hint}")
            for value in values:
                yield self._image(place, value, column)

    def _image(self, place: Place, value: object, column: str) -> str:
        if isinstance(value, dict):
            # The hub's own form of a picture, in which either may be missing.
            if isinstance(value.get("bytes"), str):
                raise place.error(
                    column, "holds a picture's bytes as text; only Parquet can hold bytes"
                )
            value = value.get("path") if value.get("bytes") is None else value["bytes"]
        if isinstance(value, bytes):
            return self._embedded(place, value, column)
        if not isinstance(value, str) or not value or "\0" in value:
            raise place.error(column, f"the image is {_shown(value)}; it must be a path")
        path = os.path.realpath(os.path.join(self._folder, value))  # noqa: PTH118 - Path takes three times as long
        if os.path.isabs(value) or not path.startswith(self._folder + os.sep):  # noqa: PTH117 - as above
            raise place.error(column, f"the image {value!r} leaves the dataset's folder")
        try:
            with open(path, "rb") as file:  # noqa: PTH123 - as above
                media_type_of(file.read(_HEAD))
        except OSError as error:
            raise place.error(
                column, f"the image {value!r} cannot be read: {error.strerror}"
            ) from None
        except ValueError as error:
            raise place.error(column, f"the image {value!r} is {error}") from None
        return path

    def _embedded(self, place: Place, data: bytes, column: str) -> str:
        """Return the path of a picture that came as bytes: everything behind this reads files."""

        try:
            return keep(data, own_folder()).path
        except ValueError as error:
            raise place.error(column, f"the image is {error}") from None
        except OSError as error:
            problem = f"the image cannot be kept in {own_folder()}: {error.strerror or error}; set XDG_CACHE_HOME"
            raise place.error(column, problem) from None

    @cached_property
    def _folder(self) -> str:
        path = self._dataset.path
        return os.path.realpath(path if path.is_dir() else path.parent)


def _required(place: Place, row: Columns, column: str) -> Any:  # noqa: ANN401 - a value from the outside
    if column not in row:
        raise place.error(column, missing(column, row))
    return row[column]


def _optional(place: Place, row: Columns, column: str) -> Any:  # noqa: ANN401 - a value from the outside
    """Return the row's value, or None for a column that is marked with ``?`` and absent."""
    if column in row:
        return row[column]
    if column.endswith("?"):
        return row.get(column[:-1])
    raise place.error(
        column, f"{missing(column, row)}; write {column + '?'!r} for a column that rows may lack"
    )


def _several(value: Any) -> list[Any]:  # noqa: ANN401 - a value from the outside
    if value is None or value == "":
        return []
    return value if isinstance(value, list) else [value]


def _json(place: Place, value: object, column: str) -> Json:
    """Return a metadata value if it is JSON, which the readers of JSON and YAML know already, Parquet's does not."""
    if isinstance(value, str):
        return _unicode(place, value, column)
    if isinstance(value, list):
        return [_json(place, item, column) for item in value]
    if isinstance(value, dict):
        return {str(key): _json(place, item, column) for key, item in value.items()}
    if (
        value is None
        or type(value) in {bool, int}
        or (type(value) is float and math.isfinite(value))
    ):
        return cast("Json", value)
    raise place.error(column, f"is {_shown(value)}, which JSON cannot hold")


def _unicode(place: Place, text: str, column: str) -> str:
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            sign = ord(text[error.start])
            raise place.error(
                column, f"holds half a character (U+{sign:04X}) at {error.start}"
            ) from None
    return text


def _shown(value: object) -> str:
    return "empty" if value is None else f"{value!r:.60}"


def _at(file: Path, problem: str) -> TaskError:
    return TaskError(problem, file=file)

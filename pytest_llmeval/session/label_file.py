"""Files of answers to label: JSON lines, CSV or YAML, by their suffix.

Each row is a labelled case (`session.labelled_cases`) with further columns that tell which answer
of the run it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NoReturn, cast

import yaml

from pytest_llmeval.errors import TaskError, UsageError
from pytest_llmeval.files.atomic import write_atomically
from pytest_llmeval.files.json_lines import json_line
from pytest_llmeval.records import Json
from pytest_llmeval.report.csv_line import csv_line, text_of_cell
from pytest_llmeval.results.answer_labels import AnswerLabel, Drawn
from pytest_llmeval.session.labelled_cases import LABEL, label_of
from pytest_llmeval.task.row_place import Columns, RowPlace
from pytest_llmeval.task.rows import read_rows

SUFFIXES: Final = (".jsonl", ".csv", ".yaml", ".yml")

DRAWN: Final = "drawn"
DIGEST: Final = "digest"
LABELLER: Final = "labeller"

_Rows = Sequence[dict[str, Json]]


def check_suffix(file: Path) -> None:
    """Raise UsageError for a file whose suffix names none of the formats."""
    if file.suffix.lower() not in SUFFIXES:
        msg = f"{file}: name a file that ends in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}"
        raise UsageError(msg)


def write_label_file(file: Path, rows: _Rows) -> None:
    """Write rows in the format of the file's suffix; UsageError when that fails."""
    check_suffix(file)
    try:
        write_atomically(file, list(_lines(file.suffix.lower(), rows)))
    except OSError as error:
        msg = f"{file}: cannot be written: {error.strerror or error}"
        raise UsageError(msg) from error


def _lines(suffix: str, rows: _Rows) -> Iterator[str]:
    if suffix == ".jsonl":
        yield from (f"{json_line(row)}\n" for row in rows)
    elif suffix == ".csv":
        columns = list(dict.fromkeys(name for row in rows for name in row))
        yield csv_line(columns)
        yield from (csv_line(_cell(row.get(name)) for name in columns) for row in rows)
    else:
        yield yaml.safe_dump(list(rows), allow_unicode=True, sort_keys=False, width=100)


def _cell(value: Json) -> str | int | None:
    return value if isinstance(value, str | int | None) else json.dumps(value)


def read_label_file(file: Path) -> Iterator[tuple[RowPlace, AnswerLabel]]:
    """Yield the rows of a file with their place; one that has no label yet is correct for nobody.

    Raises:
        TaskError: a row is none of these files', or its label is neither true nor false.
    """
    for place, row in read_rows(file, None, _refuse):
        label = label_of(place, row)
        yield (
            place,
            AnswerLabel(
                task=_text(place, row, "task"),
                sample=_text(place, row, "sample"),
                answer=_text(place, row, DIGEST),
                drawn=_drawn(place, row),
                correct={} if label is None else {str(row.get(LABELLER) or ""): label},
            ),
        )


def _drawn(place: RowPlace, row: Columns) -> tuple[Drawn, ...]:
    value = row.get(DRAWN)
    try:
        listed = json.loads(value) if isinstance(value, str) else value
        return tuple(Drawn.from_json(cast("Json", one)) for one in listed or [])
    except (TypeError, ValueError) as error:
        problem = f"is not what llmeval label wrote: {error}"
        raise place.error(DRAWN, problem) from error


def _text(place: RowPlace, row: Columns, name: str) -> str:
    if name not in row:
        raise place.lacks(name, row, f"; was the file made by llmeval label, with {LABEL!r}?")
    text = str(cast("Any", row[name]))
    return text_of_cell(text) if place.file.suffix.lower() == ".csv" else text


def _refuse(error: TaskError) -> NoReturn:
    """Raise the error of the first wrong row."""
    raise error

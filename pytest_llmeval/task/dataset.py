"""The section ``dataset`` of a task file: the file, its columns and the selection of rows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field

from pytest_llmeval.errors import UsageError
from pytest_llmeval.task.hub import HUB, HubFile, fetched
from pytest_llmeval.task.section import FilePath, Names, Section, refusal, shown

FORMATS = (".yaml", ".yml", ".json", ".jsonl", ".csv", ".parquet")
"""Suffixes of the dataset files that can be read."""


def _from_hub(value: Any) -> Any:  # noqa: ANN401 - a value of the task file
    """Return the path of the local copy for an address on the hub; any other value unchanged."""
    if not isinstance(value, str) or not value.startswith(HUB):
        return value
    try:
        return fetched(HubFile.parse(value))
    except UsageError as error:
        raise refusal((), str(error)) from None


def _known_format(value: Path) -> Path:
    if value.suffix.lower() not in FORMATS and not value.is_dir():
        raise refusal(
            (),
            f"names {shown(value.name)}, whose format is unknown",
            given=value.suffix,
            allowed=FORMATS,
        )
    return value


DatasetPath: TypeAlias = Annotated[
    FilePath, BeforeValidator(_from_hub), AfterValidator(_known_format)
]
"""A file of one of `FORMATS`, a folder that a dataset reader accepts, or, after ``llmeval fetch``,
an address ``hub://owner/name/file@revision``."""


class Fields(Section):
    """The dataset's column for each field of a sample.

    Every row must have every column, unless the column's name here ends in ``?`` (``metadata:
    {hint: hint?}``); a row without it has no such tag, picture or metadata.

    Attributes:
        id: column of the sample's id; None numbers the rows from 0.
        input: column of the question.
        target: column of the reference answer: a text, a list of texts of which any is right, or a
            mapping. None: there is none.
        tags: columns of tags; a cell may hold a list.
        metadata: names of metadata, each with its column.
        images: columns of pictures; a cell may hold a list.
        pictures: names of further pictures, each with its column; they are no part of the question,
            and are sent only where a solver does.
    """

    id: str | None = "id"
    input: str = "input"
    target: str | None = "target"
    tags: Names = ()
    metadata: dict[str, str] = Field(default_factory=dict)
    images: Names = ()
    pictures: dict[str, str] = Field(default_factory=dict)


class Dataset(Section):
    """A dataset file, its columns, and the selection of its rows.

    Attributes:
        path: see `DatasetPath`.
        fields: the columns.
        rows: top-level key that holds the list of rows, in a JSON or YAML file that is a mapping.
        keep: jinja2 expression over columns and sample fields; rows for which it is false are
            dropped.
        unique: column or sample field; of rows with equal values only the first is kept (after
            `keep`).
    """

    path: DatasetPath
    fields: Fields = Field(default_factory=Fields)
    rows: Annotated[str, Field(min_length=1)] | None = None
    keep: str | None = None
    unique: str | None = None

"""Which rows a task asks about, and what their columns mean."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, field_validator

from pytest_llmeval.errors import UsageError
from pytest_llmeval.task.hub import HUB, HubFile, fetched
from pytest_llmeval.task.section import FilePath, Names, Section, refusal, shown

FORMATS = (".yaml", ".yml", ".json", ".jsonl", ".csv", ".parquet")
"""The dataset files that can be read, by suffix."""


def _from_hub(value: Any) -> Any:  # noqa: ANN401 - what stands in the file
    """Return the local copy of a file on the hub; any other value as it is."""
    if not isinstance(value, str) or not value.startswith(HUB):
        return value

    try:
        return fetched(HubFile.parse(value))
    except UsageError as error:
        raise refusal((), str(error)) from None


class Fields(Section):
    """The dataset's column for each field of a sample.

    Every column must be in every row, except where its name here ends in ``?`` (``metadata: {hint:
    hint?}``): a row without it then simply has no such tag, picture or metadata. `id` None numbers
    the rows from 0 in file order.
    """

    id: str | None = "id"
    input: str = "input"
    target: str = "target"
    tags: Names = ()
    metadata: dict[str, str] = Field(default_factory=dict)
    images: Names = ()


class Dataset(Section):
    """A dataset file, its columns and which of its rows count.

    `path` may also be a folder that a dataset reader accepts, or ``hub://owner/name/file@revision`` once ``llmeval
    fetch`` got it.

    `rows` is the top-level key that holds the list, for a file that is no list itself; `keep` a
    jinja2 expression over columns and sample fields that must hold for a row to count; `unique` a
    column or field of which later rows with an earlier row's value are dropped (after `keep`).
    """

    path: Annotated[FilePath, BeforeValidator(_from_hub)]
    fields: Fields = Field(default_factory=Fields)
    rows: Annotated[str, Field(min_length=1)] | None = None
    keep: str | None = None
    unique: str | None = None

    @field_validator("path")
    @classmethod
    def _known_format(cls, value: Path) -> Path:
        if value.suffix.lower() not in FORMATS and not value.is_dir():
            raise refusal(
                (),
                f"names {shown(value.name)}, whose format is unknown",
                given=value.suffix,
                allowed=FORMATS,
            )
        return value

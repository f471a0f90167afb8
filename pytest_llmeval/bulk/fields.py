"""The columns of the table that a scorer sees: answer, target, id, question, metadata."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import pyarrow as pa
from pyarrow import types

from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Record

KNOWN: Final = ("answer", "target", "id", "input")
"""The fields; each is the column of the same name unless `--fields` names another."""

METADATA: Final = "metadata."
"""Begins the name of a field of metadata: ``metadata.checks=COLUMN``."""


class Fields(Record, frozen=True, kw_only=True):
    """The column of each field.

    Attributes:
        answer: column of the text to score.
        target: column of the reference answer; None if there is none.
        id: column of ids; None numbers the rows from 0.
        input: column of the question; None for none.
        metadata: by name the columns of metadata.
    """

    answer: str
    target: str | None = None
    id: str | None = None
    input: str | None = None
    metadata: Mapping[str, str] = {}

    @property
    def columns(self) -> list[str]:
        """The columns that are read, each once."""
        named = (self.answer, self.target, self.id, self.input, *self.metadata.values())
        return list(dict.fromkeys(name for name in named if name is not None))


def read_fields(texts: Sequence[str], schema: pa.Schema) -> Fields:
    """Return the fields that texts such as ``answer=response,target=solution`` name.

    Raises:
        UsageError: a text has another form, or a column is not there or of a wrong type.
    """
    named = dict(_named(texts))
    for field, column in named.items():
        _check_there(field, column, schema)
    columns = {name: named.get(name) for name in KNOWN}
    for name in KNOWN:
        if columns[name] is None and name in schema.names:
            columns[name] = name
    if columns["answer"] is None:
        _check_there("answer", "answer", schema)
    fields = Fields(
        **columns,  # type: ignore[arg-type]  # the answer's column is checked above
        metadata={
            name.removeprefix(METADATA): column
            for name, column in named.items()
            if name.startswith(METADATA)
        },
    )
    _check_types(fields, schema)
    return fields


def _named(texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    for text in ",".join(texts).split(",") if texts else ():
        field, sign, column = text.strip().partition("=")
        if not (field and sign and column):
            msg = f"--fields {text!r}: write FIELD=COLUMN, as in answer=response,target=solution"
            raise UsageError(msg)
        if field not in KNOWN and not (field.startswith(METADATA) and field != METADATA):
            near = difflib.get_close_matches(field, KNOWN, n=1)
            hint = f"did you mean {near[0]!r}? " if near else ""
            allowed = f"{', '.join(KNOWN)}, {METADATA}NAME"
            msg = f"--fields: there is no field {field!r}; {hint}(allowed: {allowed})"
            raise UsageError(msg)
        yield field, column


def _check_there(field: str, column: str, schema: pa.Schema) -> None:
    if column in schema.names:
        return
    near = difflib.get_close_matches(column, schema.names, n=1)
    hint = f"; did you mean --fields {field}={near[0]}?" if near else ""
    names = ", ".join(schema.names) or "none"
    msg = (
        f"there is no column {column!r} for the field {field!r}{hint} (columns: {names}; "
        f"--fields {field}=COLUMN names another)"
    )
    raise UsageError(msg)


def _check_types(fields: Fields, schema: pa.Schema) -> None:
    """Raise UsageError for a column whose values can be no text, or no target."""
    for field in KNOWN:
        column = getattr(fields, field)
        if column is None:
            continue
        kind = schema.field(column).type
        if _is_text(kind) or (field == "target" and _is_target(kind)):
            continue
        form = "a text, a number, a list of them, or a struct" if field == "target" else "a text"
        msg = (
            f"the column {column!r} holds {kind}; the {field} is {form}: "
            f"cast it, or name another column by --fields {field}=COLUMN"
        )
        raise UsageError(msg)


def _is_text(kind: pa.DataType) -> bool:
    """Return whether values of a type are texts, or numbers, which are taken as texts."""
    if types.is_dictionary(kind):
        kind = kind.value_type
    tests = (
        types.is_string,
        types.is_large_string,
        types.is_string_view,
        types.is_integer,
        types.is_floating,
        types.is_decimal,
        types.is_null,
    )
    return any(test(kind) for test in tests)


def _is_target(kind: pa.DataType) -> bool:
    """Return whether values of a type can be targets of the forms list and mapping."""
    if types.is_struct(kind) or types.is_map(kind):
        return True
    lists = (types.is_list, types.is_large_list, types.is_fixed_size_list)
    return any(test(kind) for test in lists) and _is_text(kind.value_type)

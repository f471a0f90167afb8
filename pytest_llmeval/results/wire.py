"""Results as JSON and back: dataclasses by the names of their fields."""

from __future__ import annotations

from typing import TypeVar

from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Json

_Record = TypeVar("_Record")


def dumped(record: object) -> dict[str, Json]:
    """Return the JSON form of a dataclass."""
    from pydantic import TypeAdapter  # noqa: PLC0415 - 62 ms that a foreign pytest session must not pay

    data: dict[str, Json] = TypeAdapter(type(record)).dump_python(record, mode="json")
    return data


def loaded(kind: type[_Record], data: dict[str, Json], name: str) -> _Record:
    """Return the record that `dumped` wrote, called `name`; UsageError names what does not fit."""
    from pydantic import TypeAdapter, ValidationError  # noqa: PLC0415 - as above

    try:
        return TypeAdapter(kind).validate_python(data)
    except ValidationError as error:
        first = error.errors()[0]
        msg = f"not a {name}: {'.'.join(map(str, first['loc']))}: {first['msg']}"
        raise UsageError(msg) from error

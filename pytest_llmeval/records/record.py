"""The base of all records that leave a process, and their JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, TypeAlias, cast

import msgspec

if TYPE_CHECKING:
    Json: TypeAlias = bool | int | float | str | list["Json"] | dict[str, "Json"] | None
    """What may cross a process or reach a file: exact built-in JSON types, nothing else."""
else:
    Json = Any  # msgspec reads annotations at run time, and knows no recursive ones


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """A frozen value whose JSON form has its fields by their names.

    Absent fields take their defaults when read, unknown ones are ignored. Of a union of records
    each has a tag in its JSON.
    """

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form, made of built-in types."""
        return cast("dict[str, Json]", _with_lists(msgspec.to_builtins(self)))

    @classmethod
    def from_json(cls, data: Json) -> Self:
        """Return the record that `to_json` wrote; ValueError says which field does not fit."""
        try:
            return msgspec.convert(data, cls)
        except msgspec.ValidationError as error:
            msg = f"this is no {cls.__name__}: {error}"
            raise ValueError(msg) from None


def _with_lists(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Return JSON with lists in place of the tuples that msgspec leaves as they are."""
    if isinstance(value, dict):
        return {key: _with_lists(item) for key, item in value.items()}
    return [_with_lists(item) for item in value] if isinstance(value, list | tuple) else value

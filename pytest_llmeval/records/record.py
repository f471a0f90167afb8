"""The base class of all records, and the type of JSON values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, TypeAlias, cast

import msgspec

if TYPE_CHECKING:
    Json: TypeAlias = bool | int | float | str | list["Json"] | dict[str, "Json"] | None
    """A value of exact built-in JSON types, which can be sent to a process or written to a file."""
else:
    Json = Any  # msgspec reads annotations at run time and does not support recursive ones


class Record(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A frozen value whose JSON form is an object of its fields.

    Python's garbage collector does not look at records: JSON has no cycles, and a run holds several
    for each of its samples.

    Reading fills absent fields with their defaults and ignores unknown ones. The members of a union
    of records are distinguished by a tag in their JSON.
    """

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form, made of built-in types."""
        return cast("dict[str, Json]", _with_lists(msgspec.to_builtins(self)))

    @classmethod
    def from_json(cls, data: Json) -> Self:
        """Return the record that `to_json` wrote.

        Raises:
            ValueError: a field is missing or has the wrong type; the message names it.
        """
        try:
            return msgspec.convert(data, cls)
        except msgspec.ValidationError as error:
            msg = f"not a valid {cls.__name__}: {error}"
            raise ValueError(msg) from None


def _with_lists(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Return `value` with each tuple, which msgspec keeps, replaced by a list."""
    if isinstance(value, dict):
        return {key: _with_lists(item) for key, item in value.items()}
    return [_with_lists(item) for item in value] if isinstance(value, list | tuple) else value

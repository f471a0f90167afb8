"""The base of all sections of a task file: strict types, no unknown keys, relative paths."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationInfo, model_validator
from pydantic_core import PydanticCustomError

from pytest_llmeval.errors import LLMEvalError, TaskError, UsageError
from pytest_llmeval.task.layer import Layer


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a task's values come from; pydantic's validation context.

    Attributes:
        file: absolute path of the task's own file.
        layers: the parts of files that hold its values, the one that counts first.
        overridden: options that replace values, by the keys that lead to these.
    """

    file: Path
    layers: tuple[Layer, ...]
    overridden: Mapping[tuple[str, ...], str] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        """The folder where relative paths start."""
        return self.file.parent

    def error(self, place: Sequence[str | int], problem: str) -> LLMEvalError:
        """Return the error for the value at `place`: it names the option that set it, or the line.

        Returns:
            A UsageError for a value from an option, else a TaskError with file, line and key.
        """
        # Overrides find the entries of a list by their names.
        named = tuple(part for part in place if isinstance(part, str))
        for keys, option in self.overridden.items():
            shared = min(len(named), len(keys))
            if shared and named[:shared] == keys[:shared]:
                return UsageError(f"{option}: {problem}")
        layer, path = self.origin(place)
        key = ".".join(map(str, path))
        return TaskError(problem, file=layer.file, line=layer.document.line(path), key=key)

    def origin(self, place: Sequence[str | int]) -> tuple[Layer, tuple[str | int, ...]]:
        """Return the layer that the value at `place` comes from, and the keys to it there.

        Of a value that is nowhere it is the task's own file.
        """
        layer = max(self.layers, key=lambda one: one.depth(place))
        if place and not layer.depth(place):
            layer = next(one for one in self.layers if not one.at)
        return layer, (*layer.at, *place)


class Section(BaseModel):
    """A mapping in a task file, of which the fields are the allowed keys."""

    other_keys: ClassVar[tuple[str, ...]] = ()
    """Further keys of the file, which say how the others are found."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, allow_inf_nan=False, defer_build=True
    )

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, data: Any) -> Any:  # noqa: ANN401 - a value of the task file
        if not isinstance(data, dict):
            raise refusal((), f"is {shown(data)}, not a mapping", allowed=cls.model_fields)
        for key in data:
            if key not in cls.model_fields:
                allowed = (*cls.model_fields, *cls.other_keys)
                raise refusal((key,), "is not a key here", given=key, allowed=allowed)
        return data


class PlacedText(str):
    """A text of the command line or of an extended file; as a path it starts from its `folder`."""

    __slots__ = ("folder",)
    folder: Path

    @classmethod
    def of(cls, text: str, folder: Path) -> Self:
        """Return the text with the folder where it was typed, or where its file lies."""
        made = cls(text)
        made.folder = folder
        return made


class ExtendedText(PlacedText):
    """A text of an extended file in another folder than the task's."""

    __slots__ = ()


def refusal(
    at: tuple[str | int, ...], problem: str, *, given: object = None, allowed: Iterable[str] = ()
) -> PydanticCustomError:
    """Return an error for a validator to raise.

    Args:
        at: the keys from the validated value to the part of it that is wrong; () for all of it.
        problem: start of the message.
        given: the wrong text, to suggest the nearest of `allowed`.
        allowed: the allowed values, which the message lists.
    """
    choices = list(allowed)
    near = difflib.get_close_matches(given, choices, n=1) if isinstance(given, str) else []
    if near:
        problem += f"; did you mean {near[0]!r}?"
    if choices:
        problem += f" (allowed: {', '.join(choices)})"
    return PydanticCustomError("refused", "{problem}", {"problem": problem, "at": at})


def shown(value: object) -> str:
    """Return a value as an error message shows it: at most 60 characters, in YAML's spelling."""
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return str(value).lower()
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."  # noqa: PLR2004 - a line of a message


def _path(value: object, info: ValidationInfo) -> Path:
    if isinstance(value, Path):
        return value
    if not isinstance(value, str) or not value or "\0" in value:
        raise refusal((), f"is {shown(value)}, not a path")
    if "://" in value:
        raise refusal((), f"is {value!r}; write a file, not an address")
    if isinstance(value, PlacedText):
        return value.folder / value
    return cast("Source", info.context).folder / value


def _existing(value: Path) -> Path:
    if not value.is_file():
        raise refusal((), f"names {str(value)!r}, which is not a file")
    return value


def _tuple(value: object) -> object:
    if isinstance(value, str):
        return (value,)
    return tuple(value) if isinstance(value, list) else value


FilePath = Annotated[Path, BeforeValidator(_path)]
"""A path, relative to the task's folder; the file need not exist."""

ExistingFile = Annotated[Path, BeforeValidator(lambda value, info: _existing(_path(value, info)))]
"""The path of an existing file, relative to the task's folder."""

Names = Annotated[tuple[str, ...], BeforeValidator(_tuple)]
"""In YAML one name or a list of names."""

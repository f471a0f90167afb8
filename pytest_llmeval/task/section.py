"""The base of all sections of a task file: strict types, no unknown keys, relative paths."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationInfo, model_validator
from pydantic_core import PydanticCustomError

from pytest_llmeval.errors import LLMEvalError, TaskError, UsageError
from pytest_llmeval.files.yaml import YamlDocument


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The YAML file that a task's values come from; pydantic's validation context.

    Attributes:
        file: absolute path of the file.
        document: its parsed content.
        overridden: options that replace values, by the keys that lead to these.
    """

    file: Path
    document: YamlDocument
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
        key = ".".join(map(str, place))
        return TaskError(problem, file=self.file, line=self.document.line(place), key=key)


class Section(BaseModel):
    """A mapping in a task file, of which the fields are the allowed keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, data: Any) -> Any:  # noqa: ANN401 - a value of the task file
        if not isinstance(data, dict):
            raise refusal((), f"is {shown(data)}, not a mapping", allowed=cls.model_fields)
        for key in data:
            if key not in cls.model_fields:
                raise refusal((key,), "is not a key here", given=key, allowed=cls.model_fields)
        return data


class OverrideText(str):
    """A text from the command line; as a path it starts from `folder`, where it was typed."""

    __slots__ = ("folder",)
    folder: Path

    @classmethod
    def of(cls, text: str, folder: Path) -> OverrideText:
        """Return the text with its folder."""
        made = cls(text)
        made.folder = folder
        return made


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
    if isinstance(value, OverrideText):
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

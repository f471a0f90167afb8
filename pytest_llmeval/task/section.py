"""What every section of a task file has in common: strict, frozen, no unknown keys, paths relative to the file."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationInfo, model_validator
from pydantic_core import PydanticCustomError

from pytest_llmeval.files.yaml import YamlDocument


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a task's values come from; the models get it as pydantic's validation context."""

    file: Path
    document: YamlDocument

    @property
    def folder(self) -> Path:
        """The folder that relative paths start from."""
        return self.file.parent


class Section(BaseModel):
    """A mapping in a task file."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, data: Any) -> Any:  # noqa: ANN401 - what stands in the file
        if not isinstance(data, dict):
            raise refusal((), f"is {shown(data)}, not a mapping", allowed=cls.model_fields)
        for key in data:
            if key not in cls.model_fields:
                raise refusal((key,), "is no key here", given=key, allowed=cls.model_fields)
        return data


class OverrideText(str):
    """A text from the command line; paths in it start from `folder`, where it was typed."""

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
    """Return the error that refuses a value inside a validator.

    `at` leads from the value to the part of it that is wrong; the message ends with the allowed
    value that is nearest to `given`, and all of them.
    """
    choices = list(allowed)
    near = difflib.get_close_matches(given, choices, n=1) if isinstance(given, str) else []
    if near:
        problem += f"; did you mean {near[0]!r}?"
    if choices:
        problem += f" (allowed: {', '.join(choices)})"
    return PydanticCustomError("refused", "{problem}", {"problem": problem, "at": at})


def shown(value: object) -> str:
    """Return a value as a message shows it: short, and in YAML's words."""
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
        raise refusal((), f"is {value!r}; no address can stand here, only a file")
    if isinstance(value, OverrideText):
        return value.folder / value
    return cast("Source", info.context).folder / value


def _existing(value: Path) -> Path:
    if not value.is_file():
        raise refusal((), f"names {str(value)!r}, which is no file")
    return value


def _tuple(value: object) -> object:
    if isinstance(value, str):
        return (value,)
    return tuple(value) if isinstance(value, list) else value


FilePath = Annotated[Path, BeforeValidator(_path)]
"""A path, relative to the task's folder; whether there is such a file is not asked."""

ExistingFile = Annotated[Path, BeforeValidator(lambda value, info: _existing(_path(value, info)))]
"""A path to a file that exists, relative to the task's folder."""

Names = Annotated[tuple[str, ...], BeforeValidator(_tuple)]
"""One name or a list of them."""

"""A task file as it is read: with the files that it extends, and its variants."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Self

from pytest_llmeval.errors import TaskError
from pytest_llmeval.files.yaml import read_yaml
from pytest_llmeval.records import Json
from pytest_llmeval.task.address import NAME, variant_name
from pytest_llmeval.task.layer import Layer, merged, rebased
from pytest_llmeval.task.override import Override, typed_in
from pytest_llmeval.task.section import ExtendedText, Source, shown

MAX_TASK_BYTES: Final = 1_000_000
"""Bytes of a task file at most."""

EXTENDS: Final = "extends"
VARIANTS: Final = "variants"

_VARIED_KEYS: Final = 3
"""Keys that lead to a value of a variant, at least: ``variants.terse.prompt``."""

_NOT_VARIED: Final = ("name", EXTENDS, VARIANTS)
"""Keys that a variant cannot have."""


@dataclass(frozen=True, kw_only=True)
class TaskFile:
    """The values of a task file and of the files that it extends.

    Attributes:
        layers: the file and those that it extends, the nearest first.
        data: their values, merged.
    """

    layers: tuple[Layer, ...]
    data: Mapping[str, Json]

    @classmethod
    def read(cls, file: Path) -> Self:
        """Return the task file at an absolute path; TaskError with file and line if it is wrong."""
        layers = tuple(_chain(file, ()))
        data: dict[str, Json] = {}
        for layer in reversed(layers):
            values: Json = layer.document.value
            if layer is not layers[0]:
                values = _brought(layer, file.parent)
            assert isinstance(values, dict)  # noqa: S101 - checked by `_chain`
            data = merged(data, values)
        data.pop(EXTENDS, None)
        return cls(layers=layers, data=data)

    @property
    def file(self) -> Path:
        """The task's own file."""
        return self.layers[0].file

    @cached_property
    def variants(self) -> tuple[str, ...]:
        """The names of the variants; TaskError if they are no mappings of keys that may vary."""
        if VARIANTS not in self.data:
            return ()
        found = self.data[VARIANTS]
        if not isinstance(found, dict) or not found:
            problem = f"is {shown(found)}; write the keys of each: {{terse: {{prompt: ...}}}}"
            raise self._error(problem, VARIANTS)
        for name, keys in found.items():
            if not re.fullmatch(NAME, name):
                problem = "is no name of letters, digits, - and _"
                raise self._error(problem, VARIANTS, name)
            if not isinstance(keys, dict):
                problem = f"is {shown(keys)}, not a mapping of keys such as prompt and generate"
                raise self._error(problem, VARIANTS, name)
            if wrong := next((key for key in _NOT_VARIED if key in keys), None):
                problem = "cannot differ between variants"
                raise self._error(problem, VARIANTS, name, wrong)
        return tuple(found)

    def chosen(
        self, variant: str | None, shared: Sequence[Override], own: Sequence[Override]
    ) -> tuple[dict[str, Any], Source]:
        """Return the values of a task, and where each comes from.

        Overrides go before the values of variants.

        Args:
            variant: its name; None for a file without variants.
            shared: overrides of the task, of which those of ``variants.NAME`` go before the others.
            own: overrides of the variant by its own name, ``sums[terse]``.

        Raises:
            TaskError: the file has no such variant, or has some and none is named.
            UsageError: an override is invalid.
        """
        data: dict[str, Any] = dict(self.data)
        layers, everywhere, here = self.layers, [], []
        for override in shared:
            if override.keys[0] != VARIANTS:
                everywhere.append(override)
            elif self._varied(override) == variant:
                here.append(override.below(2))
        if variant is not None:
            self._check(variant)
            data = merged(data, data.pop(VARIANTS)[variant])
            data["name"] = variant_name(str(data.get("name")), variant)
            layers = (*(layer.below(variant) for layer in layers), *layers)
        elif self.variants:
            named = f"{self.file.name}[{self.variants[0]}]"
            problem = f"has the variants {', '.join(self.variants)}; name one, as in {named}"
            raise self._error(problem, VARIANTS)
        applied = (*everywhere, *here, *own)
        for override in applied:
            override.apply(data)
        overridden = {override.keys: override.option for override in applied}
        return data, Source(file=self.file, layers=layers, overridden=overridden)

    def _check(self, variant: str) -> None:
        if variant not in self.variants:
            problem = f"has no variant {variant!r} (it has: {', '.join(self.variants) or 'none'})"
            raise self._error(problem, VARIANTS)

    def _varied(self, override: Override) -> str:
        """Return the variant of which an override changes a value."""
        if len(override.keys) < _VARIED_KEYS or override.keys[1] not in self.variants:
            known = ", ".join(self.variants) or "none"
            problem = f"write {VARIANTS}.NAME.KEY, with the name of a variant (there are: {known})"
            raise override.refused(problem)
        return override.keys[1]

    def _error(self, problem: str, *place: str) -> TaskError:
        layer = max(self.layers, key=lambda one: one.depth(place))
        line = layer.document.line(place)
        return TaskError(problem, file=layer.file, line=line, key=".".join(place))


def _chain(file: Path, below: tuple[Path, ...]) -> Iterable[Layer]:
    """Yield a file and those that it extends, each at most once."""
    document = read_yaml(file, max_bytes=MAX_TASK_BYTES)
    values = document.value
    if not isinstance(values, dict):
        problem = f"is {shown(values)}, not a mapping of keys such as name, dataset and prompt"
        raise TaskError(problem, file=file, line=document.line(()))
    yield Layer(file=file, document=document)
    if EXTENDS not in values:
        return
    named = values[EXTENDS]
    line = document.line((EXTENDS,))
    if not isinstance(named, str) or not named or "\0" in named:
        problem = f"is {shown(named)}, not the path of a task file"
        raise TaskError(problem, file=file, line=line, key=EXTENDS)
    path = (*below, file)
    base = (file.parent / named).resolve()
    if base in path:
        circle = " extends ".join(one.name for one in (*path[path.index(base) :], base))
        problem = f"leads back to where it begins: {circle}"
        raise TaskError(problem, file=file, line=line, key=EXTENDS)
    if not base.is_file():
        problem = f"names {str(base)!r}, which is not a file"
        raise TaskError(problem, file=file, line=line, key=EXTENDS)
    yield from _chain(base, path)


def _brought(layer: Layer, folder: Path) -> Json:
    """Return the values of an extended file as they stand in a task in `folder`."""
    values = layer.document.value
    assert isinstance(values, dict)  # noqa: S101 - checked by `_chain`
    kept = {key: value for key, value in values.items() if key not in {"name", EXTENDS}}
    source = layer.file.parent
    return (
        kept if source == folder else typed_in(source, rebased(kept, source, folder), ExtendedText)
    )

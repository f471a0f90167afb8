"""Overrides of a task's values by the option ``--llmeval-set TASK.KEY=VALUE``."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from copy import copy
from pathlib import Path
from typing import Any

from pytest_llmeval.errors import TaskError, UsageError
from pytest_llmeval.files.yaml import parse_yaml
from pytest_llmeval.records import Json
from pytest_llmeval.task.section import PlacedText, shown

APPEND = "+"
"""The end of a key whose value is appended to a list: ``TASK.scorer+=exact``."""


class Override:
    """An override of one value of a task.

    Attributes:
        option: the option as typed, for error messages.
        keys: the path to the value. A scorer in a list is found by its name, so that
            ``scorer.number.unit`` also works for ``scorer: [{number: ...}, ...]``, and
            ``scorer.faithful.votes`` for ``scorer: [{judge: {name: faithful}}, ...]``.
    """

    def __init__(self, task: object, key: str, value: str, folder: Path) -> None:
        """Parse the value.

        Args:
            task: name of the task.
            key: dotted key, with a final ``+`` to append.
            value: YAML text.
            folder: where a relative path in the value starts.

        Raises:
            UsageError: the value is not YAML.
        """
        self.option = f"--llmeval-set {task}.{key}={value}"
        self.keys = tuple(key.removesuffix(APPEND).split("."))
        self._appends = key.endswith(APPEND)
        try:
            parsed = parse_yaml(value, self.option).value
        except TaskError as error:
            quoted = shlex.quote(f"{task}.{key}={json.dumps(value, ensure_ascii=False)}")
            problem = (
                f"the value is not YAML: {error.problem}; "
                f"if it is a text, write it in quotes: --llmeval-set {quoted}"
            )
            raise self.refused(problem) from None
        self._value = typed_in(folder, parsed)

    def refused(self, problem: str) -> UsageError:
        """Return an error that names the option."""
        return UsageError(f"{self.option}: {problem}")

    def below(self, count: int) -> Override:
        """Return the override of the same value in the mapping that the first `count` keys name."""
        inner = copy(self)
        inner.keys = self.keys[count:]
        return inner

    def apply(self, data: dict[str, Any]) -> None:
        """Set the value in the parsed task file `data`, with the mappings above it.

        A plain name becomes a mapping: ``scorer.number.unit=required`` turns ``scorer: number``
        into ``scorer: {number: {unit: required}}``.

        Raises:
            UsageError: the key is ``name``, or leads through a value that is not a mapping.
        """
        if self.keys == ("name",):
            problem = "a task's name cannot be overridden: options and rows identify the task by it"
            raise self.refused(problem)
        key = self.keys[0]
        for below in self.keys[1:]:
            inner = self._inner(data.get(key), key, below)
            data[key], data = inner
            key = _kind_of(data, below) if key == "scorer" else below
        data[key] = [*_listed(data.get(key)), self._value] if self._appends else self._value

    def _inner(self, found: Json, key: str, below: str) -> tuple[Json, dict[str, Any]]:
        """Return a copy of `found`, the value of `key`, and the mapping in it for the key `below`.

        It is copied because a YAML alias may share it with another part of the file.
        """
        if isinstance(found, list):
            kinds = [next(iter(one)) if isinstance(one, dict) and one else one for one in found]
            names = [_own_name(one) or kind for one, kind in zip(found, kinds, strict=True)]
            if below not in {*names, *kinds}:
                problem = f"{key} has no {below!r} (it has: {', '.join(map(str, names))})"
                raise self.refused(problem)
            place = (names if below in names else kinds).index(below)
            mapping = dict(one) if isinstance(one := found[place], dict) else {}
            return [*found[:place], mapping, *found[place + 1 :]], mapping
        if found is None or found == below:
            found = {}
        if not isinstance(found, dict):
            problem = f"{key} is {shown(found)}, not a mapping"
            raise self.refused(problem)
        copied = dict(found)
        return copied, copied


def typed_in(folder: Path, value: Json, kind: type[PlacedText] = PlacedText) -> Json:
    """Return the value with the folder on each of its texts, in lists and mappings too."""
    if isinstance(value, str):
        return kind.of(value, folder)
    if isinstance(value, list):
        return [typed_in(folder, one, kind) for one in value]
    if isinstance(value, dict):
        return {key: typed_in(folder, one, kind) for key, one in value.items()}
    return value


def _own_name(entry: Json) -> Json:
    """Return the option ``name`` of an entry such as ``{judge: {name: faithful}}``; else None."""
    options = next(iter(entry.values()), None) if isinstance(entry, dict) else None
    return options.get("name") if isinstance(options, dict) else None


def _kind_of(scorers: Mapping[str, Json], wanted: str) -> str:
    """Return the key of the scorer that has the option ``name: wanted``, or `wanted` itself."""
    return next((kind for kind, one in scorers.items() if _own_name({kind: one}) == wanted), wanted)


def _listed(value: Json) -> list[Json]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]

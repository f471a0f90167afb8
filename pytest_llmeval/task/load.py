"""From a task's file to the task, with the run's overrides in place."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from pytest_llmeval.errors import TaskError, UsageError
from pytest_llmeval.files.yaml import parse_yaml, read_yaml
from pytest_llmeval.records import Json
from pytest_llmeval.task.model import Task
from pytest_llmeval.task.part import Source, shown
from pytest_llmeval.task.rendering import check_templates

MAX_TASK_BYTES = 1_000_000


def load_task(path: Path | str, overrides: Mapping[str, Json | Path] | None = None) -> Task:
    """Return the task in `path`, with `overrides` (dotted key to value) over what the file says.

    An override that is text is read as YAML (``"0"`` is the number 0); a Path is taken as it is.
    TaskError for what the file has wrong, with file, line and key; UsageError for a wrong override,
    naming its option.
    """
    file = Path(path).absolute()
    document = read_yaml(file, max_bytes=MAX_TASK_BYTES)
    if not isinstance(document.value, dict):
        problem = (
            f"is {shown(document.value)}, not a mapping of keys such as name, dataset and prompt"
        )
        raise TaskError(problem, file=file, line=document.line(()))
    data: dict[str, Any] = dict(document.value)
    options = {
        tuple(key.split(".")): _Option(data.get("name"), key, value)
        for key, value in (overrides or {}).items()
    }
    for keys, option in options.items():
        option.apply(data, keys)
    try:
        task = Task.model_validate(data, context=Source(file=file, document=document))
    except ValidationError as error:
        place, problem = _first_problem(error)
        for keys, option in options.items():
            shared = min(len(place), len(keys))
            if shared and place[:shared] == keys[:shared]:
                raise _wrong(option, problem) from None
        key = ".".join(str(part) for part in place)
        raise TaskError(problem, file=file, line=document.line(place), key=key) from None
    check_templates(task)
    return task


class _Option:
    """One ``--llmeval-set TASK.KEY=VALUE``, or a ``--llmeval-dataset TASK=PATH``."""

    def __init__(self, task: object, key: str, value: Json | Path) -> None:
        is_dataset = key == "dataset.path" and isinstance(value, Path)
        self.name = (
            f"--llmeval-dataset {task}={value}"
            if is_dataset
            else f"--llmeval-set {task}.{key}={value}"
        )
        self._value = self._parsed(value)

    def _parsed(self, value: Json | Path) -> Json | Path:
        if not isinstance(value, str):
            return value
        try:
            return parse_yaml(value, self.name).value
        except TaskError as error:
            raise _wrong(self, error.problem) from None

    def apply(self, data: dict[str, Any], keys: tuple[str, ...]) -> None:
        """Set the value in `data`, making the mappings above it; ``scorer: eed`` gives way to ``scorer.eed.mode``."""
        if keys == ("name",):
            raise _wrong(
                self, "a task's name cannot be overridden: options and rows know the task by it"
            )
        for key, below in pairwise(keys):
            inner = data.get(key)
            if inner is None or inner == below:
                inner = {}
            if not isinstance(inner, dict):
                raise _wrong(self, f"{key} is {shown(inner)}, not a mapping")
            # A copy, because an alias may share the mapping with another place of the file.
            data[key] = dict(inner)
            data = data[key]
        data[keys[-1]] = self._value


def _wrong(option: _Option, problem: str) -> UsageError:
    return UsageError(f"{option.name}: {problem}")


def _first_problem(error: ValidationError) -> tuple[tuple[str | int, ...], str]:
    """Return place and problem of the first of pydantic's errors, in this project's words."""
    first = error.errors(include_url=False)[0]
    place, context = first["loc"], first.get("ctx", {})
    match first["type"]:
        case "refused":
            return (*place, *context["at"]), context["problem"]
        case "missing":
            return place, "is missing"
        case "literal_error":
            return (
                place,
                f"is {shown(first['input'])}; allowed: {context['expected'].replace(chr(39), '')}",
            )
        case _:
            return (
                place,
                f"is {shown(first['input'])}: {first['msg'][:1].lower()}{first['msg'][1:]}",
            )

"""Loading of a task from its YAML file, with overrides of its values."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from pytest_llmeval.errors import TaskError
from pytest_llmeval.files.yaml import read_yaml
from pytest_llmeval.task.declared import MisfitError
from pytest_llmeval.task.model import Task
from pytest_llmeval.task.override import Override
from pytest_llmeval.task.rendering import check_templates
from pytest_llmeval.task.samples import read_examples
from pytest_llmeval.task.section import Source, shown

MAX_TASK_BYTES = 1_000_000
"""Bytes of a task file at most."""


def load_task(
    path: Path | str, overrides: Mapping[str, str] | None = None, folder: Path | None = None
) -> Task:
    """Return the task in `path`, with its scorers and its named solver made.

    Args:
        path: the YAML file.
        overrides: values by dotted key, in place of the file's; they are parsed as YAML, so that
            ``"0"`` is the number 0.
        folder: where relative paths in `overrides` start; None is the current folder.

    Raises:
        TaskError: the file is invalid; with file, line and key.
        UsageError: an override is invalid; with its option.
    """
    file = Path(path).absolute()
    document = read_yaml(file, max_bytes=MAX_TASK_BYTES)
    if not isinstance(document.value, dict):
        problem = (
            f"is {shown(document.value)}, not a mapping of keys such as name, dataset and prompt"
        )
        raise TaskError(problem, file=file, line=document.line(()))
    data: dict[str, Any] = dict(document.value)
    options = [
        Override(data.get("name"), key, value, folder or Path.cwd())
        for key, value in (overrides or {}).items()
    ]
    for option in options:
        option.apply(data)
    overridden = {option.keys: option.option for option in options}
    source = Source(file=file, document=document, overridden=overridden)
    try:
        task = Task.model_validate(data, context=source)
        task.check_parts()
    except ValidationError as error:
        place, problem = _first_problem(error)
        raise source.error(place, problem) from None
    except MisfitError as error:
        raise source.error(error.place, error.problem) from None
    check_templates(task)
    if task.fewshot is not None:
        task.take_examples(read_examples(task, task.fewshot))
    return task


def _first_problem(error: ValidationError) -> tuple[tuple[str | int, ...], str]:
    """Return place and problem of the first of pydantic's errors, worded as in this package."""
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

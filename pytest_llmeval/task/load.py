"""Loading of a task from its YAML file, with overrides of its values."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from pytest_llmeval.task.address import parse_address, variant_name
from pytest_llmeval.task.declared import MisfitError
from pytest_llmeval.task.model import Task
from pytest_llmeval.task.override import Override
from pytest_llmeval.task.rendering import check_templates
from pytest_llmeval.task.samples import read_examples
from pytest_llmeval.task.section import shown
from pytest_llmeval.task.task_file import TaskFile


def load_task(
    path: Path | str, overrides: Mapping[str, str] | None = None, folder: Path | None = None
) -> Task:
    """Return the task in `path`, with its scorers and its named solver made.

    Args:
        path: the YAML file; ``task.yaml[terse]`` for one of its variants.
        overrides: values by dotted key, in place of the file's; they are parsed as YAML, so that
            ``"0"`` is the number 0.
        folder: where relative paths in `overrides` start; None is the current folder.

    Raises:
        TaskError: the file is invalid; with file, line and key.
        UsageError: an override is invalid; with its option.
    """
    file, variant = parse_address(Path(path).absolute())
    found = TaskFile.read(file)
    named = str(found.data.get("name"))
    named = named if variant is None else variant_name(named, variant)
    return made_task(found, variant, {named: overrides or {}}, folder or Path.cwd())


def made_task(
    file: TaskFile, variant: str | None, overrides: Mapping[str, Mapping[str, str]], folder: Path
) -> Task:
    """Return a task, or a variant of it, with its scorers and its named solver made.

    Args:
        file: its file.
        variant: the variant's name; None for a file without variants.
        overrides: by the name of a task, values by dotted key. Those of the task hold for all of
            its variants, and those of a variant go before them.
        folder: where relative paths in `overrides` start.

    Raises:
        TaskError: the file is invalid; with file, line and key.
        UsageError: an override is invalid; with its option.
    """

    def of(name: str) -> list[Override]:
        return [
            Override(name, key, value, folder) for key, value in overrides.get(name, {}).items()
        ]

    named = str(file.data.get("name"))
    own = [] if variant is None else of(variant_name(named, variant))
    data, source = file.chosen(variant, of(named), own)
    try:
        task = Task.model_validate(data, context=source)
        task.check_parts()
    except ValidationError as error:
        place, problem = _first_problem(error)
        raise source.error(place, problem) from None
    except MisfitError as error:
        raise source.error(error.place, error.problem) from None
    check_templates(task)
    if task.choices is not None and not task.shows("choices"):
        problem = "are read for no prompt; write {{ choices }} into the prompt"
        raise task.error(problem, "choices")
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

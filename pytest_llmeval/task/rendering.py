"""Rendering of a task's templates for a sample into chat messages."""

from __future__ import annotations

import difflib
import hashlib
import json
import re
import traceback
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from jinja2 import TemplateSyntaxError, UndefinedError

from pytest_llmeval.errors import TaskError
from pytest_llmeval.records import Image, ImagePart, Json, Message, Part, Sample, TextPart
from pytest_llmeval.task.choices import choice_values, choices_text
from pytest_llmeval.task.fewshot import example_values, examples_text
from pytest_llmeval.task.model import Task
from pytest_llmeval.task.prompt import AS_TEXT, LISTS, Turn
from pytest_llmeval.task.template_child import RowFailure, TemplateLimitError, run_limited
from pytest_llmeval.task.templates import IMAGE_TAG, PICTURE, compile_template, plain_names

_SECTIONS: Final = {
    "examples": "fewshot: {path: train.jsonl, count: 5}",
    "choices": "choices: {column: choices}",
}
"""Variables with the sections of the task file that make them."""

_HIDDEN: Final = frozenset({PICTURE, *(name + AS_TEXT for name in LISTS)})
"""Variables that stand for something else in a template, and are not told."""


def render(
    task: Task, stage: str, sample: Sample, images: Sequence[Image], variables: Mapping[str, Json]
) -> tuple[Message, ...]:
    """Return the messages of one stage.

    Templates may use ``id``, ``input``, ``tags`` and ``metadata`` of the sample, the lists
    ``examples`` and ``choices``, and the given `variables`, but not the target. ``<image>`` in the
    sample's input or in a template is replaced by the next of `images`; the remaining ones are put
    first in the last user message. ``<image>`` in `variables` remains text, because they hold what
    models wrote.

    Args:
        task: the task.
        stage: name of a stage of its prompt.
        sample: the sample.
        images: its pictures, as they are sent.
        variables: further values for the templates.

    Raises:
        TaskError: the stage does not exist, a template fails, or names more pictures than there
            are.
    """
    if stage not in task.prompt:
        problem = (
            f"has no stage {stage!r}, which the solver asks for (stages: {', '.join(task.prompt)})"
        )
        raise TaskError(problem, file=task.file, line=task.line("prompt"), key="prompt")
    turns = task.prompt[stage]
    values = values_of(task, sample, variables)
    if not images:
        return tuple(
            Message.of(turn.role, _filled(turn, {**values, PICTURE: IMAGE_TAG})) for turn in turns
        )
    mark = _mark(values)
    if "input" not in variables:
        values["input"] = sample.input.replace(IMAGE_TAG, mark)
    texts = [_filled(turn, {**values, PICTURE: mark}).split(mark) for turn in turns]
    return _with_pictures(turns, texts, sample, images)


def values_of(task: Task, sample: Sample, variables: Mapping[str, Json]) -> dict[str, Json]:
    """Return what templates may use: fields of the sample, lists, and the solver's variables."""
    return {
        "id": sample.id,
        "input": sample.input,
        "tags": list(sample.tags),
        "metadata": dict(sample.metadata),
        **_lists(task, sample),
        **variables,
        **{name + AS_TEXT: variables[name] for name in LISTS if name in variables},
    }


def list_names(task: Task) -> frozenset[str]:
    """Return the names of the lists that templates of a task may use, and of their texts."""
    names = [name for name in LISTS if getattr(task, name) is not None]
    return frozenset(name + end for name in names for end in ("", AS_TEXT))


def _lists(task: Task, sample: Sample) -> dict[str, Json]:
    found: dict[str, Json] = {}
    if task.choices is not None:
        found |= {"choices": choice_values(sample), "choices_text": choices_text(sample)}
    if task.examples is not None:
        examples = task.examples.of(sample)
        found |= {"examples": example_values(examples), "examples_text": examples_text(examples)}
    return found


def check_templates(task: Task) -> None:
    """Raise a TaskError for the first template of `task` that is not valid jinja2."""
    for turns in task.prompt.values():
        for turn in turns:
            try:
                plain_names(turn.template)
            except TemplateSyntaxError as error:
                problem = f"is not valid jinja2: {error.message}"
                raise _error(turn, problem, error.lineno) from None


def _mark(values: Mapping[str, Json]) -> str:
    """Return the placeholder for a picture while templates are rendered.

    It is a hash of all values that templates use, so none of these can contain it, and it is the
    same in every run. It consists of digits, which filters such as ``upper`` do not change.
    """
    digest = hashlib.sha256(json.dumps(values, sort_keys=True, default=str).encode()).digest()
    return f"{int.from_bytes(digest):078d}"


def _filled(turn: Turn, values: Mapping[str, Json]) -> str:
    try:
        if plain_names(turn.template) is not None:
            return compile_template(turn.template).render(values)
        (filled,) = run_limited("template", turn.template, [values])
    except UndefinedError as error:
        filled = RowFailure("UndefinedError", str(error.message), _line_of(error))
    except TemplateLimitError as limit:
        raise _error(turn, str(limit)) from None
    if isinstance(filled, str):
        return filled
    raise _failed(turn, filled, values)


def failures(turn: Turn, rows: Sequence[Mapping[str, Json]]) -> list[TaskError | None]:
    """Return for each row of values why the template cannot be filled with it; None if it can.

    The rows are sent to the child together.

    Raises:
        TaskError: the rows together take too long.
    """
    try:
        found = run_limited(
            "template", turn.template, [{**row, PICTURE: IMAGE_TAG} for row in rows]
        )
    except TemplateLimitError as limit:
        raise _error(turn, str(limit)) from None
    return [
        None if isinstance(filled, str) else _failed(turn, filled, row)
        for filled, row in zip(found, rows, strict=True)
    ]


def _failed(turn: Turn, failure: object, values: Mapping[str, Json]) -> TaskError:
    assert isinstance(failure, RowFailure)  # noqa: S101 - templates have no truth value
    if failure.kind == "UndefinedError":
        problem = _undefined(failure.message, values)
    else:
        problem = f"cannot be filled: {failure.kind}: {failure.message}"
    return _error(turn, problem, failure.line)


def _undefined(message: str, values: Mapping[str, Json]) -> str:
    """Return the problem with a name that the template uses and that has no value: with the fix."""
    name = (re.findall("'([^']*)'", message) or [""])[-1]
    known = [known for known in values if known not in _HIDDEN]
    if name in _HIDDEN:
        name = name.removesuffix(AS_TEXT)
        message = message.replace(name + AS_TEXT, name)
    metadata = values.get("metadata")
    if "dict object" in message and isinstance(metadata, dict) and name not in metadata:
        has = ", ".join(metadata) or "nothing"
        fix = f"add {{{name}: COLUMN}} to dataset.fields.metadata"
        return f"metadata has no {name!r} (it has: {has}); {fix}"
    if name in _SECTIONS:
        hint = f"; the task file declares them: {_SECTIONS[name]}"
    elif name == "target":
        hint = "; prompts cannot use the target"
    elif name in metadata if isinstance(metadata, dict) else False:
        hint = f"; write metadata.{name}"
    else:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
    return f"{message}{hint} (known here: {', '.join(known)})"


def _line_of(error: Exception) -> int:
    """Return the line of the template on which it failed; jinja2 puts it into the traceback."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = (frame.lineno for frame in reversed(frames) if frame.filename == "<template>")
    return next((line for line in lines if line is not None), 1)


def _with_pictures(
    turns: Sequence[Turn], texts: Sequence[Sequence[str]], sample: Sample, images: Sequence[Image]
) -> tuple[Message, ...]:
    """Return the messages with their pictures.

    Args:
        turns: the messages' templates.
        texts: for each message its texts, between two of which a picture is put.
        sample: the sample, for error messages.
        images: the pictures; those beyond the gaps precede the last user message's text.
    """
    named = sum(len(pieces) - 1 for pieces in texts)
    if named > len(images):
        problem = (
            f"sample {sample.id!r} has {len(images)} pictures, "
            f"but {named} {IMAGE_TAG} tags stand for one"
        )
        raise _error(turns[-1], problem)
    pictures = iter(images[:named])
    parts = [list(_interleaved(pieces, pictures)) for pieces in texts]
    if named < len(images):
        users = [index for index, turn in enumerate(turns) if turn.role == "user"]
        first = users[-1] if users else len(turns) - 1
        parts[first] = [*(ImagePart(image=image) for image in images[named:]), *parts[first]]
    return tuple(
        Message(role=turn.role, parts=tuple(own) or (TextPart(text=""),))
        for turn, own in zip(turns, parts, strict=True)
    )


def _interleaved(pieces: Sequence[str], pictures: Iterator[Image]) -> Iterator[Part]:
    for index, text in enumerate(pieces):
        if index:
            yield ImagePart(image=next(pictures))
        if text:
            yield TextPart(text=text)


def _error(turn: Turn, problem: str, line: int = 1) -> TaskError:
    """Return an error at a line of the template, from 1."""
    return TaskError(problem, file=turn.file, line=turn.line + line - 1, key=turn.key)

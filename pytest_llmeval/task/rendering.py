"""From a task's templates and a sample to the chat messages that are sent."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence

from jinja2 import Template, TemplateSyntaxError, UndefinedError

from pytest_llmeval.errors import TaskError
from pytest_llmeval.records import Image, ImagePart, Json, Message, Part, Sample, TextPart
from pytest_llmeval.task.model import Task
from pytest_llmeval.task.prompt import Turn
from pytest_llmeval.task.templates import IMAGE_TAG, PICTURE, compile_template


def render(
    task: Task, stage: str, sample: Sample, images: Sequence[Image], variables: Mapping[str, Json]
) -> tuple[Message, ...]:
    """Return the messages of one stage.

    Templates see ``id``, ``input``, ``tags`` and ``metadata`` of the sample and the stage's own
    `variables`, never the target. ``<image>`` in the sample's input or in a template becomes the
    next of `images`; those never named come first in the last user message. Nothing in `variables`
    can name one: they hold what models wrote.
    """
    if stage not in task.prompt:
        problem = (
            f"has no stage {stage!r}, which the solver asks for (stages: {', '.join(task.prompt)})"
        )
        raise TaskError(problem, file=task.file, line=task.line("prompt"), key="prompt")
    turns = task.prompt[stage]
    values: dict[str, Json] = {
        "id": sample.id,
        "input": sample.input,
        "tags": list(sample.tags),
        "metadata": dict(sample.metadata),
        **variables,
    }
    if not images:
        return tuple(
            Message.of(turn.role, _filled(turn, {**values, PICTURE: IMAGE_TAG})) for turn in turns
        )
    mark = _mark(values)
    if "input" not in variables:
        values["input"] = sample.input.replace(IMAGE_TAG, mark)
    texts = [_filled(turn, {**values, PICTURE: mark}).split(mark) for turn in turns]
    return _with_pictures(turns, texts, sample, images)


def check_templates(task: Task) -> None:
    """Raise a TaskError for the first template of `task` that is no jinja2."""
    for turns in task.prompt.values():
        for turn in turns:
            _compiled(turn)


def _mark(values: Mapping[str, Json]) -> str:
    """Return the text that stands for a picture while templates are filled.

    It is a hash of all they are filled with, so nothing among that can hold it, and it is the same
    in every run. Digits alone, because filters such as ``upper`` leave those as they are.
    """
    digest = hashlib.sha256(json.dumps(values, sort_keys=True, default=str).encode()).digest()
    return f"{int.from_bytes(digest):078d}"


def _filled(turn: Turn, values: Mapping[str, Json]) -> str:
    try:
        return _compiled(turn).render(values)
    except UndefinedError as error:
        names = ", ".join(name for name in values if name != PICTURE)
        hint = "; the target never reaches a prompt" if str(error).startswith("'target'") else ""
        raise _error(turn, f"{error.message}{hint} (known here: {names})") from None
    except TaskError:
        raise
    except Exception as error:  # noqa: BLE001 - a template may fail in any way, and whoever wrote it must act
        raise _error(turn, f"cannot be filled: {type(error).__name__}: {error}") from None


def _compiled(turn: Turn) -> Template:
    try:
        return compile_template(turn.text)
    except TemplateSyntaxError as error:
        raise _error(
            turn, f"line {error.lineno} of the template is no jinja2: {error.message}"
        ) from None


def _with_pictures(
    turns: Sequence[Turn], texts: Sequence[Sequence[str]], sample: Sample, images: Sequence[Image]
) -> tuple[Message, ...]:
    """Put pictures between the texts of each message, and those left over before the last user message's."""
    named = sum(len(pieces) - 1 for pieces in texts)
    if named > len(images):
        problem = f"sample {sample.id!r} has {len(images)} pictures, but {named} {IMAGE_TAG} tags name one"
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


def _error(turn: Turn, problem: str) -> TaskError:
    return TaskError(problem, file=turn.file, line=turn.line, key=turn.key)

"""Rendering of a task's templates for a sample into chat messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from pytest_llmeval.errors import TaskError
from pytest_llmeval.records import (
    Image,
    ImagePart,
    Json,
    Message,
    Part,
    Sample,
    TextPart,
    target_text,
    target_texts,
)
from pytest_llmeval.task.choices import choice_values, choices_text
from pytest_llmeval.task.fewshot import EXAMPLES_STAGE, example_values, examples_text
from pytest_llmeval.task.model import Task
from pytest_llmeval.task.prompt import Turn
from pytest_llmeval.templates import filling
from pytest_llmeval.templates.filling import FillingError
from pytest_llmeval.templates.language import AS_TEXT, IMAGE_TAG, LISTS, PICTURE


def render(
    task: Task, stage: str, sample: Sample, images: Sequence[Image], variables: Mapping[str, Json]
) -> tuple[Message, ...]:
    """Return the messages of one stage.

    Templates may use ``id``, ``input``, ``tags`` and ``metadata`` of the sample, the lists
    ``examples`` and ``choices``, and the given `variables`, but not the target. ``<image>`` in the
    sample's input or in a template is replaced by the next of `images`; the remaining ones are put
    first in the last user message. ``<image>`` in `variables` remains text, because they hold what
    models wrote. Few-shot examples in the form ``turns`` stand before the last user message.

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
    messages: tuple[Message, ...]
    if images:
        mark = filling.mark_of(values)
        if "input" not in variables:
            values["input"] = sample.input.replace(IMAGE_TAG, mark)
        texts = [_filled(turn, {**values, PICTURE: mark}).split(mark) for turn in turns]
        messages = _with_pictures(turns, texts, sample, images)
    else:
        messages = tuple(
            Message.of(turn.role, _filled(turn, {**values, PICTURE: IMAGE_TAG})) for turn in turns
        )
    if not has_example_turns(task, stage):
        return messages
    at = max(place for place, turn in enumerate(turns) if turn.role == "user")
    examples = task.examples.of(sample) if task.examples else ()
    pairs = (example_turn(task, turns[at], one, variables) for one in examples)
    return (*messages[:at], *chain.from_iterable(pairs), *messages[at:])


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


def has_example_turns(task: Task, stage: str) -> bool:
    """Return whether a stage has few-shot examples as messages."""
    examples = task.examples
    return examples is not None and examples.chosen.as_turns and stage == EXAMPLES_STAGE


def example_turn(
    task: Task, question: Turn, example: Sample, variables: Mapping[str, Json]
) -> tuple[Message, Message]:
    """Return the user's message of a few-shot example, by the template `question`, and its reply.

    Of a target of several texts the reply has the first.

    Raises:
        LLMEvalError: one of the templates cannot be filled.
    """
    asked = {**values_of(task, example, variables), PICTURE: IMAGE_TAG}
    target = target_text(target_texts(example.target)[0])
    known = {**values_of(task, example, {}), "target": target, PICTURE: IMAGE_TAG}
    try:
        reply = filling.filled(task.fewshot.reply if task.fewshot else "", known)
    except FillingError as error:
        raise task.error(error.problem, "fewshot", "reply") from None
    return Message.of("user", _filled(question, asked)), Message.of("assistant", reply)


def list_names(task: Task) -> frozenset[str]:
    """Return the names of the lists that templates of a task may use, and of their texts."""
    names = [name for name in LISTS if getattr(task, name) is not None]
    return frozenset(name + end for name in names for end in ("", AS_TEXT))


def _lists(task: Task, sample: Sample) -> dict[str, Json]:
    found: dict[str, Json] = {}
    if task.choices is not None:
        found |= {"choices": choice_values(sample), "choices_text": choices_text(sample)}
    if task.examples is not None and not task.examples.chosen.as_turns:
        examples = task.examples.of(sample)
        found |= {"examples": example_values(examples), "examples_text": examples_text(examples)}
    return found


def check_templates(task: Task) -> None:
    """Raise a TaskError for the first template of `task` that is not valid jinja2."""
    for turns in task.prompt.values():
        for turn in turns:
            try:
                filling.check_syntax(turn.text)
            except FillingError as error:
                raise _error(turn, error) from None


def failures(turn: Turn, rows: Sequence[Mapping[str, Json]]) -> list[TaskError | None]:
    """Return for each row of values why the template cannot be filled with it; None if it can.

    Raises:
        TaskError: the rows together take too long.
    """
    try:
        found = filling.failures(turn.text, [{**row, PICTURE: IMAGE_TAG} for row in rows])
    except FillingError as error:
        raise _error(turn, error) from None
    return [None if error is None else _error(turn, error) for error in found]


def _filled(turn: Turn, values: Mapping[str, Json]) -> str:
    try:
        return filling.filled(turn.text, values)
    except FillingError as error:
        raise _error(turn, error) from None


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
        raise _error(turns[-1], FillingError(problem))
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


def _error(turn: Turn, error: FillingError) -> TaskError:
    line = turn.line + error.line - 1
    return TaskError(error.problem, file=turn.file, line=line, key=turn.key)

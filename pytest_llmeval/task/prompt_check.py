"""The check that a task's prompts can be rendered for its samples, before anything is asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat
from typing import Final

from pytest_llmeval.errors import TaskError
from pytest_llmeval.records import Image, Json, Message, Sample
from pytest_llmeval.task.model import Task
from pytest_llmeval.task.rendering import (
    example_turn,
    failures,
    has_example_turns,
    list_names,
    render,
    values_of,
)
from pytest_llmeval.templates.language import IMAGE_TAG, METADATA, PICTURE, plain_names

_PICTURE: Final = Image(digest="", media_type="image/png", path="")
"""What stands for a picture, of which only the place in the prompt matters here."""

_BATCH: Final = 500
"""Samples whose templates are rendered in the child at a time."""

_FIELDS: Final = frozenset({"id", "input", "tags", METADATA, PICTURE})
"""The names that every template knows."""


def check_prompts(
    task: Task, stages: Mapping[str, Mapping[str, Json]], samples: Sequence[Sample]
) -> None:
    """Check the prompts of a task for some of its samples.

    Args:
        task: the task.
        stages: the stages to check, with the variables that the solver adds.
        samples: the samples, at least one.

    Raises:
        TaskError: a prompt cannot be rendered; with file, line and key, and with a sample if it
            fails for some samples only.
    """
    for stage, variables in stages.items():
        alone = {sample.id for sample in _doubtful(task, stage, variables, samples)}
        errors = [
            *_rendered_alone(task, stage, variables, [one for one in samples if one.id in alone]),
            *_rendered_together(
                task, stage, variables, [one for one in samples if one.id not in alone]
            ),
        ]
        if errors:
            failed = [sample for sample, _ in errors]
            _, first = errors[0]
            raise first if len(failed) == len(samples) else _with_samples(first, failed)
        if has_example_turns(task, stage):
            _check_example_turns(task, stage, variables, samples)


def _check_example_turns(
    task: Task, stage: str, variables: Mapping[str, Json], samples: Sequence[Sample]
) -> None:
    """Raise TaskError for an example of the samples that makes no message; each is tried once."""
    if task.examples is None:
        return
    found = {one.id: one for sample in samples for one in task.examples.of(sample)}
    question = [turn for turn in task.prompt[stage] if turn.role == "user"][-1]
    for example in found.values():
        try:
            example_turn(task, question, example, variables)
        except TaskError as error:
            problem = f"{error.problem} (few-shot example {example.id!r})"
            raise TaskError(problem, file=error.file, line=error.line, key=error.key) from None


def rendered(
    task: Task, stage: str, sample: Sample, variables: Mapping[str, Json]
) -> tuple[Message, ...]:
    """Return a stage's messages as `render` does, with stand-ins for the sample's pictures."""
    pictures = tuple(repeat(_PICTURE, len(sample.images)))
    return render(task, stage, sample, pictures, variables)


_Failed = tuple[str, TaskError]
"""A sample's id, and why its prompt cannot be rendered."""


def _rendered_alone(
    task: Task, stage: str, variables: Mapping[str, Json], samples: Sequence[Sample]
) -> Iterator[_Failed]:
    """Yield the samples whose prompt fails as a whole, with its pictures."""
    for sample in samples:
        try:
            rendered(task, stage, sample, variables)
        except TaskError as error:
            yield sample.id, error


def _rendered_together(
    task: Task, stage: str, variables: Mapping[str, Json], samples: Sequence[Sample]
) -> Iterator[_Failed]:
    """Yield the samples for which one of the templates fails that are not plain."""
    turns = [turn for turn in task.prompt.get(stage, ()) if plain_names(turn.text) is None]
    for start in range(0, len(samples), _BATCH):
        batch = samples[start : start + _BATCH]
        rows = [values_of(task, sample, variables) for sample in batch]
        for turn in turns:
            for sample, error in zip(batch, failures(turn, rows), strict=True):
                if error is not None:
                    yield sample.id, error


def _doubtful(
    task: Task, stage: str, variables: Mapping[str, Json], samples: Sequence[Sample]
) -> Sequence[Sample]:
    """Return the samples whose prompt must be rendered to know whether its plain templates can be.

    Of these only the names are looked at, which is a hundred times as fast.
    """
    turns = task.prompt.get(stage, ())
    names = frozenset().union(*(plain_names(turn.text) or () for turn in turns))
    simple = {name for name in names if not name.startswith(f"{METADATA}.")}
    if not turns or not simple <= _FIELDS | list_names(task) | variables.keys():
        return samples
    keys = {name.partition(".")[2] for name in names - simple}
    has_tags = any(IMAGE_TAG in turn.text for turn in turns)
    return [
        sample
        for sample in samples
        if not keys <= sample.metadata.keys()
        or (sample.images and (has_tags or IMAGE_TAG in sample.input))
    ]


def _with_samples(error: TaskError, failed: Sequence[str]) -> TaskError:
    others = len(set(failed)) - 1
    more = f" and {others} other{'s' if others > 1 else ''}" if others else ""
    problem = f"{error.problem} (sample {failed[0]!r}{more})"
    return TaskError(problem, file=error.file, line=error.line, key=error.key)

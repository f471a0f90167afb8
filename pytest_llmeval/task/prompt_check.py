"""The check that a task's prompts can be rendered for its samples, before anything is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import repeat
from typing import Final

from pytest_llmeval.errors import TaskError
from pytest_llmeval.records import Image, Json, Sample
from pytest_llmeval.task.model import Task
from pytest_llmeval.task.rendering import render
from pytest_llmeval.task.templates import IMAGE_TAG, METADATA, PICTURE, plain_names

_PICTURE: Final = Image(digest="", media_type="image/png", path="")
"""What stands for a picture, of which only the place in the prompt matters here."""

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
        first: TaskError | None = None
        failed: list[str] = []
        for sample in _doubtful(task, stage, variables, samples):
            try:
                pictures = tuple(repeat(_PICTURE, len(sample.images)))
                render(task, stage, sample, pictures, variables)
            except TaskError as error:
                first = first or error
                failed.append(sample.id)
        if first is not None:
            raise first if len(failed) == len(samples) else _with_samples(first, failed)


def _doubtful(
    task: Task, stage: str, variables: Mapping[str, Json], samples: Sequence[Sample]
) -> Sequence[Sample]:
    """Return the samples for which the prompt must be rendered to know whether it can be.

    Of plain templates the names are looked at, which is a hundred times as fast.
    """
    turns = task.prompt.get(stage, ())
    found = [plain_names(turn.text) for turn in turns]
    plain = [names for names in found if names is not None]
    names = frozenset().union(*plain)
    simple = {name for name in names if not name.startswith(f"{METADATA}.")}
    if len(plain) < len(found) or not found or not simple <= _FIELDS | variables.keys():
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
    others = len(failed) - 1
    more = f" and {others} other{'s' if others > 1 else ''}" if others else ""
    problem = f"{error.problem} (sample {failed[0]!r}{more})"
    return TaskError(problem, file=error.file, line=error.line, key=error.key)

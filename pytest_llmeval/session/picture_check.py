"""The pictures of a plan's samples, decoded before anything is asked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from pytest_llmeval.engine.plan import Plan
from pytest_llmeval.errors import LLMEvalError, TaskError, UsageError
from pytest_llmeval.files.decoder import can_decode
from pytest_llmeval.files.prepared import prepare_pictures
from pytest_llmeval.records import Image
from pytest_llmeval.task.catalog import Catalog
from pytest_llmeval.task.wrong_rows import SHOWN

_MANY = 200
"""Pictures whose decoding is announced; it takes about a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedPictures:
    """The pictures of a plan's samples.

    Attributes:
        images: by path, the pictures as they are sent.
        mistakes: by task file, what is wrong with pictures of its selected samples.
    """

    images: Mapping[str, Image] = field(default_factory=dict)
    mistakes: Mapping[str, LLMEvalError] = field(default_factory=dict)


def planned_pictures(plan: Plan, catalog: Catalog, tell: Callable[[str], None]) -> PlannedPictures:
    """Decode each picture of the selected samples once, unless that was done in a former session.

    Args:
        plan: the selected tests.
        catalog: their tasks.
        tell: shows a line to the user.
    """
    uses = _uses(plan, catalog)
    if not uses:
        return PlannedPictures()
    if not can_decode():
        tell(
            "pictures are sent undecoded, because pillow is not installed: "
            "pip install 'pytest-llmeval-suite[vision]'"
        )
    paths = dict.fromkeys(path for samples in uses.values() for path in samples)
    try:
        prepared = prepare_pictures(
            paths, lambda count: tell(f"decoding {count} pictures") if count >= _MANY else None
        )
    except UsageError as error:
        return PlannedPictures(mistakes=dict.fromkeys(uses, error))
    return PlannedPictures(
        images={path: one for path, one in prepared.items() if isinstance(one, Image)},
        mistakes={
            file: TaskError.together(wrong[:SHOWN], more=len(wrong[SHOWN:]))
            for file, samples in uses.items()
            if (wrong := _wrong(samples, prepared))
        },
    )


def _uses(plan: Plan, catalog: Catalog) -> Mapping[str, Mapping[str, Sequence[str]]]:
    """Return by task file and picture's path the ids of the selected samples that have it."""
    uses: defaultdict[str, defaultdict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for file, sample in dict.fromkeys((test.file, test.sample) for test in plan.tests):
        one = catalog.at(file).by_id[sample]
        for path in dict.fromkeys((*one.images, *one.pictures.values())):
            uses[file][path].append(sample)
    return uses


def _wrong(
    samples: Mapping[str, Sequence[str]], prepared: Mapping[str, Image | str]
) -> list[TaskError]:
    return [
        TaskError(
            f"{_named(ids)}: the image is no picture that can be sent: {problem}; "
            "save it anew, or leave it out (dataset.keep)",
            file=path,
        )
        for path, ids in samples.items()
        if isinstance(problem := prepared[path], str)
    ]


def _named(ids: Sequence[str]) -> str:
    others = f" and {len(ids) - 1} more" if len(ids) > 1 else ""
    return f"sample {ids[0]!r}{others}"

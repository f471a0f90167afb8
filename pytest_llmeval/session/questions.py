"""What the samples of a plan ask, for ``samples.jsonl``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress

from pytest_llmeval.engine.plan import Plan
from pytest_llmeval.records import Image, Sample
from pytest_llmeval.results.questions import Question
from pytest_llmeval.task.catalog import Catalog
from pytest_llmeval.task.question import question_digest, question_text


def planned_questions(
    plan: Plan, catalog: Catalog, sent: Mapping[str, Image]
) -> Iterator[Question]:
    """Yield the question of each planned sample once; one sample is in memory at a time.

    Args:
        plan: the selected tests.
        catalog: their tasks.
        sent: by path, the samples' pictures as they are sent; others are read.
    """
    for file, name in dict.fromkeys((test.file, test.sample) for test in plan.tests):
        loaded = catalog.at(file)
        sample = loaded.by_id[name]
        asks_also = getattr(loaded.task.named_solver, "asks_also", lambda _: ())
        yield Question(
            task=loaded.task.name,
            sample=sample.id,
            question=question_digest(sample),
            text="\n\n".join((question_text(sample), *asks_also(sample))),
            images=tuple(_images(sample, sent)),
        )


def _images(sample: Sample, sent: Mapping[str, Image]) -> Iterator[Image]:
    for path in sample.images:
        # A picture that cannot be read is told of by the tests of its sample.
        with suppress(OSError, ValueError):
            yield sent[path] if path in sent else Image.load(path)

"""The questions in a page: excerpts for the table of samples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pytest_llmeval.records import Image, Json
from pytest_llmeval.report.clean import clean
from pytest_llmeval.results.questions import Question, QuestionKey, question_of, questions_of
from pytest_llmeval.results.stored_run import StoredRun

_LONGEST: Final = 240
"""Characters of a question in the table: two lines of it."""

_EXCERPTS: Final = 2_000_000
"""Characters that the excerpts of all questions together may have in the page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedQuestions:
    """The questions of a page's rows.

    Attributes:
        entries: for each its excerpt and the digests of its pictures, as the page holds them.
        numbers: where each stands in `entries`.
        images: all pictures, each once.
    """

    entries: Sequence[Json]
    numbers: Mapping[QuestionKey, int]
    images: Sequence[Image]


def asked_questions(run: StoredRun) -> AskedQuestions:
    """Return the questions of a run's rows; one is in memory at a time."""
    distinct = len({question_of(row) for row in run.rows})
    return excerpts(questions_of(run), distinct)


def excerpts(questions: Iterable[Question], distinct: int) -> AskedQuestions:
    """Return excerpts of questions, of which the page has as many as `distinct` says."""
    longest = min(_LONGEST, _EXCERPTS // (distinct or 1))
    entries: list[Json] = []
    numbers: dict[QuestionKey, int] = {}
    images: dict[str, Image] = {}
    for question in questions:
        numbers[question.key] = len(entries)
        images |= {image.digest: image for image in question.images}
        digests: list[Json] = [image.digest for image in question.images]
        entries.append({"text": clean(question.text, longest), "images": digests})
    return AskedQuestions(entries=entries, numbers=numbers, images=tuple(images.values()))

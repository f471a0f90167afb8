"""The table of samples as data: one short list a row, for the page to filter and sort."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from pytest_llmeval.records import Json, Row, Score
from pytest_llmeval.report.address import Addresses, name_in_page
from pytest_llmeval.report.asked_questions import AskedQuestions
from pytest_llmeval.report.clean import clean
from pytest_llmeval.results.questions import QuestionKey, question_of
from pytest_llmeval.results.stored_run import StoredRun
from pytest_llmeval.results.task_info import TaskInfo

COLUMNS: Final = (
    "sample",
    "question",
    "part",
    "epoch",
    "outcome",
    "score",
    "scale",
    "answer",
    "target",
    "why",
    "tags",
    "tokens",
    "seconds",
    "cost",
)
"""What the list of a row holds, in order; the page reads them by these names."""

_EXCERPTS: Final = 3_000_000
"""Characters that the excerpts of all rows together may have in the page."""

_LONGEST: Final = 90
_TAIL: Final = 2_000
_DIGITS: Final = 6
"""Digits after the point of a number in the table."""


class TablePart(NamedTuple):
    """What rows of the table share: task, model and test function."""

    task: str
    model: str
    test: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Numbers:
    """Where the page's lists hold what rows share."""

    parts: Mapping[TablePart, int]
    questions: Mapping[QuestionKey, int]
    tags: Mapping[str, int]


def sample_index(
    run: StoredRun,
    rows: Sequence[Row],
    infos: Mapping[str, TaskInfo],
    questions: AskedQuestions,
    addresses: Addresses,
) -> dict[str, Json]:
    """Return the run, parts of it, questions, tags, and a list of values for each row.

    Args:
        run: the run of the page.
        rows: its rows in the order of the table.
        infos: what is known of their tasks, by name.
        questions: what they asked.
        addresses: of the rows.
    """
    parts = sorted({TablePart(row.task, row.model, row.test) for row in rows})
    tags = sorted({tag for row in rows for tag in _tags(row)})
    numbers = _Numbers(
        parts={part: number for number, part in enumerate(parts)},
        questions=questions.numbers,
        tags={tag: number for number, tag in enumerate(tags)},
    )
    longest = min(_LONGEST, _EXCERPTS // (3 * len(rows) or 1))
    titles = {task: info.title for task, info in infos.items()}
    return {
        "runs": [{"name": clean(run.path.name), "letter": ""}],
        "columns": list(COLUMNS),
        "parts": [
            {
                "run": 0,
                "task": name_in_page(part.task),
                "title": clean(titles.get(part.task, part.task)),
                "model": name_in_page(part.model),
                "test": addresses.test(part.task, part.test),
            }
            for part in parts
        ],
        "questions": [*questions.entries],
        "tags": [clean(tag) for tag in tags],
        "rows": [_values(run.whole(row), numbers, longest) for row in rows],
    }


def _values(row: Row, numbers: _Numbers, longest: int) -> list[Json]:
    score = _deciding(row)
    values: dict[str, Json] = {
        "sample": name_in_page(row.sample),
        "question": numbers.questions.get(question_of(row)),
        "part": numbers.parts[TablePart(row.task, row.model, row.test)],
        "epoch": row.epoch,
        "outcome": row.outcome,
        "score": None if score is None or score.value is None else round(score.value, _DIGITS),
        "scale": None if score is None else score.scale,
        "answer": None if row.answer is None else clean(_last_line(row.answer), longest),
        "target": clean(row.target_text, longest),
        "why": clean(_why(row, score), longest),
        "tags": [numbers.tags[tag] for tag in _tags(row)],
        "tokens": row.usage.total_tokens,
        "seconds": round(row.seconds, _DIGITS),
        "cost": row.usage.cost,
    }
    return [values[name] for name in COLUMNS]


def _deciding(row: Row) -> Score | None:
    """Return the score that made the row's outcome: the last that decides."""
    return next((score for score in reversed(row.scores) if score.decides), None)


def _last_line(answer: str) -> str:
    """Return the last line of an answer, which may be a whole reply."""
    return next((line for line in reversed(answer[-_TAIL:].split("\n")) if line.strip()), "")


def _why(row: Row, score: Score | None) -> str:
    """Return why the outcome is what it is; "" for a correct answer."""
    if row.outcome == "correct":
        return ""
    return score.explanation if score is not None and score.explanation else row.explanation


def _tags(row: Row) -> tuple[str, ...]:
    """Return what the table can be filtered by: tags, and values of the task's groups."""
    return tuple(
        dict.fromkeys([*row.tags, *(value for values in row.groups.values() for value in values)])
    )

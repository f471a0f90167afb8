"""Labelled cases: answers with a human reader's verdict, on which judges are measured."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final, NoReturn

from pytest_llmeval.errors import TaskError
from pytest_llmeval.task.rows import read_rows

_TEXTS: Final = ("id", "kind", "target", "candidate")


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledCase:
    """An answer to a problem, with a human reader's verdict.

    Attributes:
        id: name of the case.
        kind: name of its group, such as ``rounding``.
        problem: the problem; "" if it is not needed.
        target: the reference answer.
        candidate: the answer to judge.
        equivalent: whether it is equivalent to the target.
    """

    id: str
    kind: str
    problem: str
    target: str
    candidate: str
    equivalent: bool


def read_cases(file: Path) -> tuple[LabelledCase, ...]:
    """Return the cases in a YAML, JSON, JSON Lines or CSV file.

    Raises:
        TaskError: a row is no case (the message names it), or there is none.
    """
    cases = []
    for place, row in read_rows(file, None, _refuse):
        wrong = next((name for name in _TEXTS if not isinstance(row.get(name), str)), None)
        if wrong:
            raise place.error(wrong, "must be a text")
        if not isinstance(row.get(label := "equivalent"), bool):
            raise place.error(label, "must be true or false")
        cases.append(
            LabelledCase(
                **{name: row[name] for name in _TEXTS},
                problem=str(row.get("problem") or ""),
                equivalent=row["equivalent"],
            )
        )
    if not cases:
        problem = "holds no cases"
        raise TaskError(problem, file=file)
    return tuple(cases)


def _refuse(error: TaskError) -> NoReturn:
    """Raise the error of the first wrong row."""
    raise error

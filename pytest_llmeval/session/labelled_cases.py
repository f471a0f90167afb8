"""Labelled cases: answers with a human reader's label, on which judges are measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NoReturn

from pytest_llmeval.errors import TaskError
from pytest_llmeval.records import Sample
from pytest_llmeval.report.csv_line import text_of_cell
from pytest_llmeval.results.targets import answer_digest
from pytest_llmeval.task.row_place import Columns, RowPlace
from pytest_llmeval.task.rows import read_rows

_ANSWER: Final = "answer"

LABEL: Final = "correct"
"""The column of the label."""

INVALID: Final = "invalid"
"""The kind of VerifierBench's cases that are labelled C."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledCase:
    """An answer to a question, with a human reader's label.

    Attributes:
        id: name of the case.
        kind: name of its group, such as ``rounding``.
        sample: the question and its target; further columns are its metadata.
        answer: the answer to judge.
        correct: whether it is correct.
    """

    id: str
    kind: str
    sample: Sample
    answer: str
    correct: bool


def read_cases(file: Path) -> tuple[LabelledCase, ...]:
    """Return the cases in a YAML, JSON, JSON Lines, CSV or Parquet file.

    Its rows have the columns `id`, `kind`, `question` (may be missing), `target`, `answer` and
    `correct`, or are those of VerifierBench: `question`, `gold_answer`, `llm_response`,
    `gold_judgment` and `domain`. Rows whose `correct` is empty are not labelled yet, and left out.

    Raises:
        TaskError: a row is no case (the message names it), or there is none.
    """
    cases = []
    for place, row in read_rows(file, None, _refuse):
        read = _of_verifier_bench if _JUDGMENT in row else _own
        if (case := read(place, row)) is not None:
            cases.append(case)
    if not cases:
        problem = "holds no labelled cases"
        raise TaskError(problem, file=file)
    return tuple(cases)


def label_of(place: RowPlace, row: Columns) -> bool | None:
    """Return a row's label, from JSON, YAML or the text of a CSV file; None while it has none.

    Raises:
        TaskError: it is neither true nor false, nor empty.
    """
    value = row.get(LABEL)
    text = value.strip().lower() if isinstance(value, str) else value
    if text is None or text == "":
        return None
    if isinstance(text, bool):
        return text
    if text in _WORDS:
        return _WORDS[text]
    raise place.error(LABEL, f"must be true or false, not {value!r:.60}")


_WORDS: Final = {"true": True, "false": False}


def _own(place: RowPlace, row: Columns) -> LabelledCase | None:
    texts = {name: _text(place, row, name) for name in ("id", "kind", "target", _ANSWER)}
    if LABEL not in row:
        raise place.lacks(LABEL, row)
    correct = label_of(place, row)
    if correct is None:
        return None
    if "digest" in row:
        texts[_ANSWER] = _exported(place, row, texts[_ANSWER])
    question = str(row.get("question") or "")
    return LabelledCase(
        id=texts["id"],
        kind=texts["kind"],
        sample=_sample(texts["id"], question, texts["target"], row),
        answer=texts[_ANSWER],
        correct=correct,
    )


def _exported(place: RowPlace, row: Columns, answer: str) -> str:
    """Return an answer as ``llmeval label`` exported it: a CSV file may have changed it."""
    for text in (answer, text_of_cell(answer)):
        # An answer that is missing is exported as an empty one.
        if row["digest"] in {answer_digest(text), answer_digest(text or None)}:
            return text
    problem = "is not the answer of this digest; CSV cuts long ones, take .jsonl or .yaml"
    raise place.error(_ANSWER, problem)


_JUDGMENT: Final = "gold_judgment"

_JUDGMENTS: Final = {"A": True, "B": False, "C": False}
"""VerifierBench: correct; incorrect; the answer (cut, repeating) or its question is no good, which
its authors count as incorrect."""


def _of_verifier_bench(place: RowPlace, row: Columns) -> LabelledCase:
    texts = {
        name: _text(place, row, name)
        for name in ("question", "gold_answer", "llm_response", _JUDGMENT)
    }
    judgment = texts[_JUDGMENT].strip()
    if judgment not in _JUDGMENTS:
        raise place.error(_JUDGMENT, f"must be A, B or C, not {judgment!r:.60}")
    name = str(row.get("id") or place.number)
    return LabelledCase(
        id=name,
        kind=INVALID if judgment == "C" else str(row.get("domain") or "all"),
        sample=_sample(name, texts["question"], texts["gold_answer"], row),
        answer=texts["llm_response"],
        correct=_JUDGMENTS[judgment],
    )


_COLUMNS: Final = frozenset({"id", "kind", "question", "target", _ANSWER, LABEL})


def _sample(name: str, question: str, target: str, row: Mapping[str, Any]) -> Sample:
    further = {column: value for column, value in row.items() if column not in _COLUMNS}
    return Sample(id=name, input=question, target=target, metadata=further)


def _text(place: RowPlace, row: Columns, name: str) -> str:
    if name not in row:
        raise place.lacks(name, row)
    if not isinstance(row[name], str):
        raise place.error(name, "must be a text")
    return str(row[name])


def _refuse(error: TaskError) -> NoReturn:
    """Raise the error of the first wrong row."""
    raise error

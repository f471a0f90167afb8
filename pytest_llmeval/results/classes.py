"""Rows as a classification: the class of each target, and the class that each answer names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from string import punctuation
from typing import Final

from pytest_llmeval.records import Row, target_texts
from pytest_llmeval.results.task_info import MetricEntry

CLASS_METRICS: Final = frozenset({"f1_macro", "mcc"})
"""The metrics of a task that is a classification."""

NO_CLASS: Final = "none of them"
"""In place of the class of an answer that names none."""

_WORD: Final = re.compile(r"[^\W_]+")

MOST_CLASSES: Final = 20
"""Classes of which a confusion matrix is made, at most."""


def confusion(
    rows: Sequence[Row], metrics: Sequence[MetricEntry]
) -> Mapping[str, Mapping[str, int]]:
    """Return by the class of the target how many answers name which class.

    Classes come in the order of their names, and `NO_CLASS` last. It is empty for a task without a
    metric of `CLASS_METRICS`, or with more than `MOST_CLASSES`.
    """
    if not _has_classes(metrics):
        return {}
    counts = Counter(classified(rows))
    classes = sorted({target for target, _ in counts})
    if len(classes) > MOST_CLASSES:
        return {}
    return {
        target: {
            **{answer: counts[target, answer] for answer in classes},
            NO_CLASS: counts[target, None],
        }
        for target in classes
    }


def unclassed(rows: Sequence[Row], metrics: Sequence[MetricEntry]) -> int:
    """Return how many incorrect answers name no class, if correct ones do so in other words.

    A scorer that finds the class in a sentence makes a correct answer the class of its target. An
    incorrect sentence has no class then, and is a false positive of none: F1 comes out too high,
    and MCC sees one class for all of them. It is 0 where correct answers are the class itself, case
    and punctuation aside.
    """
    if not _has_classes(metrics):
        return 0
    found = [row for row in rows if row.target is not None]
    if not any(map(_in_other_words, found)):
        return 0
    return sum(
        named is None and row.answer is not None
        for row, (_, named) in zip(found, classified(found), strict=True)
    )


def _has_classes(metrics: Sequence[MetricEntry]) -> bool:
    names = {entry if isinstance(entry, str) else next(iter(entry)) for entry in metrics}
    return not names.isdisjoint(CLASS_METRICS)


def _in_other_words(row: Row) -> bool:
    """Return whether a row's answer is correct without being its target."""
    if row.outcome != "correct" or not isinstance(row.target, str) or row.answer is None:
        return False
    return _WORD.findall(row.answer.casefold()) != _WORD.findall(row.target.casefold())


def classified(rows: Sequence[Row]) -> list[tuple[str, str | None]]:
    """Return the classes of target and answer of each row with a target.

    An answer is the class that it names, case and punctuation at its ends aside where that is
    certain; one that names none is None.
    """
    pairs = [(_class(row), _answer(row)) for row in rows if row.target is not None]
    classes = {target for target, _ in pairs}
    forms = Counter(map(_folded, classes))
    known = {form: name for name in classes if forms[form := _folded(name)] == 1}
    return [
        (target, answer if answer in classes else known.get(_folded(answer or "")))
        for target, answer in pairs
    ]


def _folded(text: str) -> str:
    """Return a text without case, and without punctuation at its ends."""
    return text.strip(f"{punctuation} ").casefold()


def _class(row: Row) -> str:
    """Return the class of a row's target: of several texts the answer's one, or the first."""
    texts = [text.strip() for text in target_texts(row.target)]
    answer = _answer(row)
    return answer if answer is not None and answer in texts else texts[0]


def _answer(row: Row) -> str | None:
    """Return the class of a row's answer: of a correct one that of the target."""
    if row.outcome == "correct" and isinstance(row.target, str):
        return row.target.strip()
    return None if row.answer is None else row.answer.strip()

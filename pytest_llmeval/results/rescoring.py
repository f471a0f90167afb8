"""A run whose stored answers were scored again: which scores changed, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, TypeAlias

from pytest_llmeval.records import Outcome, Record, Row, RowKey
from pytest_llmeval.results.rescored_part import RescoredPart, rescored_parts
from pytest_llmeval.results.rows import SCORED, latest

Cause: TypeAlias = Literal[
    "answer", "data", "grader", "no score then", "no score now", "no stored reply"
]
"""What differs: the answer taken from the same reply, the target, or how the same answer is graded
against it; nobody decided about it then, or now; or there is no answer now."""


class Rescored(Record, frozen=True, kw_only=True):
    """One row with another result.

    Attributes:
        key: of the row.
        before: its outcome in the earlier run.
        after: its outcome now.
        scores: by name those that changed, as (before, after).
        causes: all that differs; the grader alone where answer and target are the same.
    """

    key: RowKey
    before: Outcome
    after: Outcome
    scores: Mapping[str, tuple[float | None, float | None]]
    causes: tuple[Cause, ...]


class Rescoring(Record, frozen=True, kw_only=True):
    """What became of the rows of `run` when they were scored again.

    Attributes:
        run: name of the earlier run.
        same: number of rows with the same scores and outcome.
        changed: the others.
        added: number of rows that the earlier run does not have, so no reply was stored for them.
        absent: number of its rows that were not selected again.
        parts: old against new by task and model; () in summaries of earlier versions.
    """

    run: str
    same: int
    changed: tuple[Rescored, ...]
    added: int
    absent: int
    parts: tuple[RescoredPart, ...] = ()


def rescoring(run: str, before: Iterable[Row], after: Iterable[Row]) -> Rescoring:
    """Return what became of the rows of `run` when they were scored again."""
    then, now = tuple(before), tuple(after)
    old, new = ({row.key: row for row in latest(rows)} for rows in (then, now))
    common = sorted(old.keys() & new.keys())
    changed = tuple(found for key in common for found in _changed(old[key], new[key]))
    return Rescoring(
        run=run,
        same=len(common) - len(changed),
        changed=changed,
        added=len(new.keys() - old.keys()),
        absent=len(old.keys() - new.keys()),
        parts=rescored_parts(then, now),
    )


def _changed(before: Row, after: Row) -> Iterator[Rescored]:
    old, new = _scores(before), _scores(after)
    scores = {
        name: (old.get(name), new.get(name))
        for name in (*old, *new)
        if old.get(name) != new.get(name)
    }
    if scores or before.outcome != after.outcome:
        yield Rescored(
            key=before.key,
            before=before.outcome,
            after=after.outcome,
            scores=scores,
            causes=_causes(before, after),
        )


def _scores(row: Row) -> dict[str, float | None]:
    return {score.name: score.value for score in row.scores}


def _causes(before: Row, after: Row) -> tuple[Cause, ...]:
    if before.outcome in SCORED and not _is_decided(after):
        return ("no score now" if after.stop_reason else "no stored reply",)
    if after.outcome in SCORED and not _is_decided(before):
        return ("no score then",)
    found: list[Cause] = []
    if before.answer != after.answer:
        found.append("answer")
    if before.target != after.target:
        found.append("data")
    if not found or _graders(before) != _graders(after):
        found.append("grader")
    return tuple(found)


def _is_decided(row: Row) -> bool:
    """Whether a row has an outcome of its own, or a deciding score."""
    decided = any(score.decides and score.correct is not None for score in row.scores)
    return row.outcome in SCORED or decided


def _graders(row: Row) -> dict[str, str]:
    return {score.name: score.grader for score in row.scores}

"""A run whose stored answers were scored again: which scores changed, and what made them change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from pytest_llmeval.records import Json, Outcome, Row, RowKey
from pytest_llmeval.results.metrics import SCORED, latest
from pytest_llmeval.results.wire import dumped, loaded

Cause: TypeAlias = Literal["answer", "data", "grader", "no stored reply"]
"""What differs: the answer taken from the same reply, the target, or how the same answer is graded
against it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescored:
    """One row that came out otherwise.

    `scores` holds those that changed by name, as (before, after).

    `causes` names all that differ, and the grader alone where answer and target are the same.
    """

    key: RowKey
    before: Outcome
    after: Outcome
    scores: Mapping[str, tuple[float | None, float | None]]
    causes: tuple[Cause, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescoring:
    """How rows came out that `run` had too: `same` as before, or `changed`.

    `added` rows are not that run's, so no reply was stored for them; `absent` ones of it were not
    selected again.
    """

    run: str
    same: int
    changed: tuple[Rescored, ...]
    added: int
    absent: int

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return dumped(self)

    @classmethod
    def from_json(cls, data: dict[str, Json]) -> Rescoring:
        """Return the rescoring that `to_json` wrote; UsageError when it is none."""
        return loaded(Rescoring, data, "rescoring")


def rescoring(run: str, before: Iterable[Row], after: Iterable[Row]) -> Rescoring:
    """Return what became of the rows of `run` when they were scored again."""
    old, new = ({row.key: row for row in latest(rows)} for rows in (before, after))
    common = sorted(old.keys() & new.keys())
    changed = tuple(found for key in common for found in _changed(old[key], new[key]))
    return Rescoring(
        run=run,
        same=len(common) - len(changed),
        changed=changed,
        added=len(new.keys() - old.keys()),
        absent=len(old.keys() - new.keys()),
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
    if before.outcome in SCORED and after.outcome in {"error", "not run"} and not after.scores:
        return ("no stored reply",)
    found: list[Cause] = []
    if before.answer != after.answer:
        found.append("answer")
    if before.target != after.target:
        found.append("data")
    if not found or _graders(before) != _graders(after):
        found.append("grader")
    return tuple(found)


def _graders(row: Row) -> dict[str, str]:
    return {score.name: score.grader for score in row.scores}

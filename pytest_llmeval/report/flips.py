"""Samples whose outcome changed between two runs: question, target, and both answers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pytest_llmeval.records import Row
from pytest_llmeval.report.clean import clean
from pytest_llmeval.report.natural_order import natural_order
from pytest_llmeval.report.side import Side
from pytest_llmeval.results.compare import Pair
from pytest_llmeval.results.entry_key import EntryKey
from pytest_llmeval.results.rows import SCORED
from pytest_llmeval.results.targets import is_digest

_LONGEST: Final = 300
"""Characters of a question or an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What one run made of a sample.

    `text` says how often it was right; `answer` is None where it is not known.
    """

    outcome: str
    text: str
    answer: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Flip:
    """One sample. None: not known. `row` is that of b which is shown."""

    name: str
    question: str | None
    target: str | None
    a: Answered
    b: Answered
    asked_otherwise: bool
    row: Row


@dataclass(frozen=True, slots=True, kw_only=True)
class Flips:
    """Samples that went one way; `more` are not shown."""

    title: str
    kind: str
    samples: tuple[Flip, ...]
    more: int

    @property
    def number(self) -> int:
        """How many samples went that way."""
        return len(self.samples) + self.more


def flips_of(
    pair: Pair,
    sides: tuple[Side, Side],
    rows: tuple[Mapping[EntryKey, Sequence[Row]], Mapping[EntryKey, Sequence[Row]]],
    asked_otherwise: Collection[str],
    most: int,
) -> tuple[Flips, ...]:
    """Return the samples that were gained and lost, `most` of either.

    `rows` are those of both sides by entry.
    """
    by_sample = tuple(
        _by_sample(of_side.get(EntryKey(pair.task, pair.test, model), ()))
        for of_side, model in zip(rows, (pair.model_a, pair.model_b), strict=True)
    )
    kinds = (
        ("gained", "Correct more often in b", pair.gained),
        ("lost", "Correct less often in b", pair.lost),
    )
    return tuple(
        Flips(
            title=title,
            kind=kind,
            samples=tuple(
                _flip(
                    sides,
                    (by_sample[0][one], by_sample[1][one]),
                    asked_otherwise=one in asked_otherwise,
                )
                for one in sorted(ids, key=natural_order)[:most]
            ),
            more=len(ids[most:]),
        )
        for kind, title, ids in kinds
        if ids
    )


def _by_sample(rows: Sequence[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        if row.outcome in SCORED:
            found.setdefault(row.sample, []).append(row)
    return found


def _flip(
    sides: tuple[Side, Side], rows: tuple[Sequence[Row], Sequence[Row]], *, asked_otherwise: bool
) -> Flip:
    """Return a sample by its first epoch in which the two runs' outcomes differ."""
    epochs = {row.epoch: row for row in rows[0]}
    differing = [
        (epochs[row.epoch], row)
        for row in rows[1]
        if row.epoch in epochs and epochs[row.epoch].outcome != row.outcome
    ]
    a, b = differing[0] if differing else (rows[0][0], rows[1][0])
    told = (side.whole(row) for side, row in zip(sides, (a, b), strict=True))
    of_a, of_b = (
        _answered(row, of_side, known=side.run is not None)
        for row, of_side, side in zip(told, rows, sides, strict=True)
    )
    return Flip(
        name=clean(b.sample),
        question=sides[1].question(b) or sides[0].question(a),
        target=next(
            (clean(row.target_text, _LONGEST) for row in (b, a) if not is_digest(row.target)), None
        ),
        a=of_a,
        b=of_b,
        asked_otherwise=asked_otherwise,
        row=b,
    )


def _answered(row: Row, rows: Sequence[Row], *, known: bool) -> Answered:
    right = sum(one.outcome == "correct" for one in rows)
    return Answered(
        outcome=row.outcome,
        text=row.outcome if len(rows) == 1 else f"{right} of {len(rows)} correct",
        answer=clean(row.answer or "", _LONGEST) if known else None,
    )

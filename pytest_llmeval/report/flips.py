"""Samples whose outcome changed between two runs: question, target, and both answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias
from urllib.parse import urlencode

from pytest_llmeval.records import Row
from pytest_llmeval.report.address import Addresses, name_in_page
from pytest_llmeval.report.clean import clean
from pytest_llmeval.report.natural_order import natural_order
from pytest_llmeval.report.side import Side
from pytest_llmeval.results.compare import Comparison, Pair
from pytest_llmeval.results.entry_key import EntryKey, rows_by_entry
from pytest_llmeval.results.questions import QuestionKey, question_of, questions_of
from pytest_llmeval.results.rows import SCORED
from pytest_llmeval.results.targets import is_digest

Entries: TypeAlias = Mapping[EntryKey, Mapping[str, Sequence[Row]]]
"""Scored rows by entry and sample."""

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
    """One sample. None: not known. `address` is that of b's row in the page, "" without one."""

    name: str
    question: str | None
    target: str | None
    a: Answered
    b: Answered
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Flips:
    """Samples that went one way; `more` are not shown.

    `address` is that of the page's table with them alone; "" where it does not have both runs.
    """

    title: str
    kind: str
    address: str
    samples: tuple[Flip, ...]
    more: int

    @property
    def number(self) -> int:
        """How many samples went that way."""
        return len(self.samples) + self.more


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What lists of flipped samples are made of.

    Attributes:
        sides: the two runs.
        rows: the scored rows of each, by entry.
        questions: texts of questions, as far as they are known.
        addresses: of b's rows in a page that is about b alone; None for a page of both.
        most: samples that one list shows.
    """

    sides: tuple[Side, Side]
    rows: tuple[Entries, Entries]
    questions: Mapping[QuestionKey, str]
    addresses: Addresses | None
    most: int


def shown_flips(
    comparison: Comparison, sides: tuple[Side, Side], addresses: Addresses | None, most: int
) -> Shown:
    """Return what lists of a comparison's flipped samples are made of; `most` in all of them."""
    rows = tuple(_scored(side) for side in sides)
    lists = [ids for pair in comparison.pairs for ids in (pair.gained, pair.lost) if ids]
    share = most // max(1, len(lists))
    flipped: list[list[Row]] = [[], []]
    for pair in comparison.pairs:
        ids = {*pair.gained[:share], *pair.lost[:share]}
        for of_side, entries, model in zip(
            flipped, rows, (pair.model_a, pair.model_b), strict=True
        ):
            by_sample = entries.get(EntryKey(pair.task, pair.test, model), {})
            of_side += [row for sample in ids for row in by_sample.get(sample, ())]
    questions: dict[QuestionKey, str] = {}
    for side, of_side in zip(sides, flipped, strict=True):
        questions |= _texts(side, [row for row in of_side if question_of(row) not in questions])
    return Shown(
        sides=sides,
        rows=(rows[0], rows[1]),
        questions=questions,
        addresses=addresses,
        most=share,
    )


def flips_of(pair: Pair, shown: Shown) -> tuple[Flips, ...]:
    """Return the samples that were gained and lost."""
    kinds = (
        ("gained", "Correct more often in b", pair.gained),
        ("lost", "Correct less often in b", pair.lost),
    )
    return tuple(
        Flips(
            title=title,
            kind=kind,
            address="" if shown.addresses is not None else _table(pair.task, kind),
            samples=tuple(
                _flip(pair, one, shown) for one in sorted(ids, key=natural_order)[: shown.most]
            ),
            more=len(ids[shown.most :]),
        )
        for kind, title, ids in kinds
        if ids
    )


def _table(task: str, kind: str) -> str:
    return f"#samples?{urlencode({'task': name_in_page(task), 'flipped': kind})}"


def _texts(side: Side, rows: Sequence[Row]) -> dict[QuestionKey, str]:
    """Return the questions of some rows of a side."""
    if side.run is None or not rows:
        return {}
    run = replace(side.run, rows=tuple(rows))
    return {found.key: clean(found.text, _LONGEST) for found in questions_of(run)}


def _scored(side: Side) -> Entries:
    return {key: _by_sample(rows) for key, rows in rows_by_entry(side.rows).items()}


def _by_sample(rows: Sequence[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        if row.outcome in SCORED:
            found.setdefault(row.sample, []).append(row)
    return found


def _flip(pair: Pair, sample: str, shown: Shown) -> Flip:
    """Return a sample by its first epoch in which the two runs' outcomes differ."""
    of_a, of_b = (
        entries[EntryKey(pair.task, pair.test, model)][sample]
        for entries, model in zip(shown.rows, (pair.model_a, pair.model_b), strict=True)
    )
    epochs = {row.epoch: row for row in of_a}
    both = [(epochs[row.epoch], row) for row in of_b if row.epoch in epochs]
    a, b = next(((a, b) for a, b in both if a.outcome != b.outcome), (of_a[0], of_b[0]))
    answered = [
        _answered(side.whole(row), rows, known=side.run is not None)
        for side, row, rows in zip(shown.sides, (a, b), (of_a, of_b), strict=True)
    ]
    targets = [row.target_text for row in (b, a) if not is_digest(row.target)]
    names = (pair.task, pair.test, sample, pair.model_b, b.epoch)
    return Flip(
        name=clean(sample),
        question=shown.questions.get(question_of(b)) or shown.questions.get(question_of(a)),
        target=clean(targets[0], _LONGEST) if targets else None,
        a=answered[0],
        b=answered[1],
        address="" if shown.addresses is None else shown.addresses.of(*names),
    )


def _answered(row: Row, rows: Sequence[Row], *, known: bool) -> Answered:
    right = sum(one.outcome == "correct" for one in rows)
    return Answered(
        outcome=row.outcome,
        text=row.outcome if len(rows) == 1 else f"{right} of {len(rows)} correct",
        answer=clean(row.answer or "", _LONGEST) if known else None,
    )

"""Labels of a run's answers, given in a browser.

They are those of ``llmeval label``: the same answers are drawn, in the same random order, and a
label is kept by the same code. Only a label of the drawn ones, given in their order and without
sight of the verdict, corrects the accuracy; one given on a sample's page is for reading.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Final

import msgspec

from pytest_llmeval.records import Json, Record, Row, RowKey
from pytest_llmeval.results.answer_labels import AnswerLabel, read_labels
from pytest_llmeval.results.label_choice import ChosenAnswer, choose
from pytest_llmeval.results.rows import is_solved
from pytest_llmeval.results.targets import answer_digest
from pytest_llmeval.session.labelling import add_labels
from pytest_llmeval.view.request import Refused

_NAME: Final = 80
"""Characters of a labeller's name at most."""

_Unit = tuple[str, str, str]
Places = Mapping[RowKey, int]


class GivenLabel(Record, frozen=True, kw_only=True):
    """A label as a page sends it.

    Attributes:
        row: the byte at which the row with the answer begins.
        correct: whether the answer is correct.
        labeller: who says so; "" without a name.
        blind: whether it was given in the order of the drawn answers, without their verdicts.
    """

    row: int
    correct: bool
    labeller: str = ""
    blind: bool = False


class RunLabels:
    """The labels of one run."""

    def __init__(self, folder: Path) -> None:
        """Take the run's folder."""
        self._folder = folder

    def known(self, rows: Sequence[Row], places: Places) -> Json:
        """Return for each row whose answer has labels its place and, by labeller, the label."""
        labels = {_unit_of(label): label for label in read_labels(self._folder)}
        if not labels:
            return []
        return [
            [places[row.key], dict(label.correct)]
            for row in rows
            if (label := labels.get(_unit(row))) is not None
        ]

    def drawn(self, rows: Sequence[Row], places: Places) -> list[Json]:
        """Return the answers to label in their order: the place of a row, and who labelled it."""
        labels = {_unit_of(label): label for label in read_labels(self._folder)}
        return [
            {"row": places[one.row.key], "labels": _given(labels.get(_unit(one.row)))}
            for one in choose(rows)
        ]

    def add(self, rows: Sequence[Row], places: Places, body: bytes) -> None:
        """Keep one label; `Refused` if it is none, or of no answer, or not the next in order."""
        given = _parsed(body)
        row = next((row for row in rows if places[row.key] == given.row), None)
        if row is None or not is_solved(row):
            raise Refused(HTTPStatus.CONFLICT, "The run has no such answer (any more).")
        chosen = self._chosen(given, row, rows) if given.blind else None
        label = AnswerLabel(
            task=row.task,
            sample=row.sample,
            answer=answer_digest(row.answer),
            drawn=() if chosen is None else tuple(chosen.drawn),
            correct={given.labeller.strip(): given.correct},
        )
        add_labels(self._folder, [label])

    def _chosen(self, given: GivenLabel, row: Row, rows: Sequence[Row]) -> ChosenAnswer:
        """Return the drawn answer that is labelled: this labeller's next, or an earlier one."""
        labels = {_unit_of(label): label for label in read_labels(self._folder)}
        for one in choose(rows):
            if _unit(one.row) == _unit(row):
                return one
            if given.labeller.strip() not in _given(labels.get(_unit(one.row))):
                break
        message = "Answers are labelled in their order, so that those labelled are a random part."
        raise Refused(HTTPStatus.CONFLICT, message)


def _parsed(body: bytes) -> GivenLabel:
    try:
        given = msgspec.json.decode(body, type=GivenLabel)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Refused(HTTPStatus.BAD_REQUEST, f"This is no label: {error}") from error
    if len(given.labeller) > _NAME:
        raise Refused(HTTPStatus.BAD_REQUEST, f"A name has at most {_NAME} characters.")
    return given


def _given(label: AnswerLabel | None) -> dict[str, Json]:
    return {} if label is None else dict(label.correct)


def _unit(row: Row) -> _Unit:
    return row.task, row.sample, answer_digest(row.answer)


def _unit_of(label: AnswerLabel) -> _Unit:
    return label.task, label.sample, label.answer

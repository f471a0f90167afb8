"""Human labels of a run's answers: ``labels.jsonl`` in its folder."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from pytest_llmeval.errors import UsageError
from pytest_llmeval.files.json_lines import read_lines
from pytest_llmeval.records import Record, Row
from pytest_llmeval.results.prediction_powered import Labelled
from pytest_llmeval.results.rows import SCORED
from pytest_llmeval.results.run_files import LABELS
from pytest_llmeval.results.targets import answer_digest
from pytest_llmeval.scoring.judge.majority import winner


class Drawn(Record, frozen=True, kw_only=True):
    """A row of a task and a sample that was drawn at random from all that have an answer."""

    test: str
    model: str
    epoch: int

    @classmethod
    def of(cls, row: Row) -> Drawn:
        """Return what names a row among those of its sample."""
        return cls(test=row.test, model=row.model, epoch=row.epoch)


class AnswerLabel(Record, frozen=True, kw_only=True):
    """What human readers say of one answer to one sample.

    It belongs to the answer, whoever gave it: a run that is resumed or scored again finds it.

    Attributes:
        task: name of the task.
        sample: id of the sample.
        answer: digest of the answer.
        drawn: the rows with this answer that were drawn at random; none where the answer was
            chosen because it is uncertain.
        correct: by labeller ("" for one without a name) whether it is correct.
    """

    task: str
    sample: str
    answer: str
    drawn: tuple[Drawn, ...] = ()
    correct: Mapping[str, bool] = {}

    @property
    def verdict(self) -> bool | None:
        """Whether more than half of the labellers say correct, or incorrect; None at a tie."""
        return winner(list(self.correct.values()))


def read_labels(folder: Path) -> tuple[AnswerLabel, ...]:
    """Return the labels in a run's folder; () if there are none.

    Raises:
        UsageError: a line is wrong (the message names it).
    """
    file = folder / LABELS
    if not file.is_file():
        return ()
    found = []
    for number, data in read_lines(file, []):
        try:
            found.append(AnswerLabel.from_json(data))
        except ValueError as error:
            msg = f"{file}:{number}: not a label ({error}); read the labels again: llmeval label"
            raise UsageError(msg) from error
    return tuple(found)


class DrawnLabels:
    """The labels of rows that were drawn at random."""

    def __init__(self, labels: Iterable[AnswerLabel] = ()) -> None:
        """Look rows up in `labels`."""
        self._known = {
            (label.task, label.sample, label.answer, drawn): label
            for label in labels
            for drawn in label.drawn
        }

    def of(self, rows: Sequence[Row]) -> dict[str, list[Labelled]]:
        """Return by sample the scored rows that were drawn and have a label."""
        found: dict[str, list[Labelled]] = defaultdict(list)
        for row in rows if self._known else ():
            key = (row.task, row.sample, answer_digest(row.answer), Drawn.of(row))
            label = self._known.get(key)
            verdict = None if label is None else label.verdict
            if verdict is not None and row.outcome in SCORED:
                found[row.sample].append(Labelled(row.outcome == "correct", verdict))
        return dict(found)

"""One of two runs that a page compares: its rows, and what its folder knows besides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from pytest_llmeval.records import Json, Row
from pytest_llmeval.results.baseline import Baseline
from pytest_llmeval.results.row_texts import Whole, as_it_is
from pytest_llmeval.results.stored_run import StoredRun


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """A run, or the file of a baseline, which has neither questions, answers nor evidence.

    Attributes:
        name: what it is called.
        rows: its rows.
        run: its folder; None of a file.
        whole: adds the texts that a row lacks in memory.
        questions: texts by task, sample and digest of the question, as far as they are known.
    """

    name: str
    rows: Sequence[Row]
    run: StoredRun | None = None
    whole: Whole = as_it_is
    questions: Mapping[tuple[str, str, str], str] = field(default_factory=dict)

    @classmethod
    def of_baseline(cls, baseline: Baseline) -> Self:
        """Return a baseline as a side."""
        return cls(name=baseline.name, rows=baseline.rows, run=baseline.run)

    @classmethod
    def of_run(cls, run: StoredRun) -> Self:
        """Return a stored run as a side."""
        return cls(name=run.path.name, rows=run.rows, run=run, whole=run.whole)

    @property
    def info(self) -> Mapping[str, Json] | None:
        """The run's run.json; None of a file."""
        return None if self.run is None else self.run.info

    def question(self, row: Row) -> str | None:
        """Return the question of one of its rows; None where it is not known."""
        return self.questions.get((row.task, row.sample, row.question))

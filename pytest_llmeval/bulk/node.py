"""Parts scored on a node of a cluster, by one child."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from pytest_llmeval.bulk.cells import rows_of
from pytest_llmeval.bulk.children import ScoringChildren
from pytest_llmeval.bulk.job import graders
from pytest_llmeval.bulk.local import PartsToScore
from pytest_llmeval.bulk.row import Found, Row
from pytest_llmeval.bulk.row_reader import RowReader
from pytest_llmeval.bulk.score_columns import score_table
from pytest_llmeval.errors import LLMEvalError, UsageError

_CHUNK = 256
"""Rows of one request to the child."""


@dataclass(frozen=True, slots=True)
class ScoredPart:
    """What a node sends back of a part.

    Attributes:
        number: the part's number.
        scores: its scores as an Arrow stream; b"" if the node cannot score.
        problem: why it cannot; "" if it can.
    """

    number: int
    scores: bytes
    problem: str = ""

    def table(self) -> pa.Table:
        """Return the scores.

        Raises:
            UsageError: the node could not score.
        """
        if self.problem:
            raise UsageError(self.problem)
        return pa.ipc.open_stream(self.scores).read_all()


class PartScoring:
    """Scores parts of a table that the node reads itself; made once in each actor."""

    def __init__(self, work: PartsToScore, expected: dict[str, str]) -> None:
        """Start no child yet.

        Args:
            work: the table and the job; its parts are not used.
            expected: what grades, as where the scoring was begun (see `bulk.job.graders`).
        """
        self._work, self._names = work, work.names
        self._expected, self._is_checked = expected, False
        self._children = ScoringChildren(work.job, 1)
        self._reader = RowReader(work.table, work.fields.columns)

    def scored(self, number: int, first: int, rows: int) -> ScoredPart:
        """Return the scores of the part with these figures (see `bulk.part_folder.Part`)."""
        try:
            self._check()
            found: list[list[Found]] = []
            for start in range(first, first + rows, _CHUNK):
                found += self._children.scored(self._rows(start, min(_CHUNK, first + rows - start)))
        except LLMEvalError as error:
            return ScoredPart(number, b"", f"node {socket.gethostname()}: {error}")
        sink = pa.BufferOutputStream()
        table = score_table(found, self._names)
        with pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table)
        return ScoredPart(number, sink.getvalue().to_pybytes())

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[Any]]:
        """Return the scores of the parts of a batch, a row each, as Ray Data wants it."""
        figures = zip(batch["number"], batch["first"], batch["rows"], strict=True)
        parts = [self.scored(*map(int, part)) for part in figures]
        return {
            "number": [part.number for part in parts],
            "scores": [part.scores for part in parts],
            "problem": [part.problem for part in parts],
        }

    def _rows(self, first: int, rows: int) -> list[Row]:
        return rows_of(self._reader.read(first, rows), self._work.fields, first)

    def _check(self) -> None:
        """Raise UsageError if the node has another table, or other scorers."""
        if self._is_checked:
            return
        self._work.table.check_unchanged()
        if (ours := graders(self._work.job)) != self._expected:
            msg = (
                f"scores by {ours}, and {self._expected} is wanted; "
                "install the same version of pytest-llmeval-suite on all nodes"
            )
            raise UsageError(msg)
        self._is_checked = True

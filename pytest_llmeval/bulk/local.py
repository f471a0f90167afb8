"""Parts scored on this machine, by a child for each processor."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Final

import pyarrow as pa

from pytest_llmeval.bulk.cells import rows_of
from pytest_llmeval.bulk.children import ScoringChildren
from pytest_llmeval.bulk.fields import Fields
from pytest_llmeval.bulk.job import Job, made_scorers
from pytest_llmeval.bulk.part_folder import Part
from pytest_llmeval.bulk.row import Found, Row
from pytest_llmeval.bulk.row_reader import RowReader
from pytest_llmeval.bulk.score_columns import score_table
from pytest_llmeval.bulk.table import Table
from pytest_llmeval.scoring.scorer import score_names

_CHUNK_ROWS: Final = 256
_CHUNK_BYTES: Final = 256 << 10
"""Rows and, for rows of average size, bytes of one request at most."""

_CHUNKS: Final = 8
"""Chunks that each child should get at least, so that all end at the same time."""

_AHEAD: Final = 2
"""Chunks in work for each child: one that it scores, and one that waits for it."""

_OPEN: Final = 4
"""Parts in work beside one for each child, while a costly row holds up the part that it is in."""


@dataclass(frozen=True, slots=True)
class PartsToScore:
    """Parts of a table that are to be scored.

    Attributes:
        table: the table.
        fields: its columns.
        job: what is computed.
        parts: those to score, in ascending order.
    """

    table: Table
    fields: Fields
    job: Job
    parts: Sequence[Part]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the scores."""
        return tuple(name for one in made_scorers(self.job) for name in score_names(one))


def scored_here(
    work: PartsToScore, processes: int, advance: Callable[[int], None]
) -> Iterator[tuple[Part, pa.Table]]:
    """Yield each part with its scores as soon as it is done.

    Args:
        work: the parts.
        processes: number of scoring children.
        advance: called with a number of rows whenever so many more are scored.

    Raises:
        UsageError: a child does not start, or the table cannot be read.
    """
    names, chunks = work.names, _chunks(work, processes)
    in_work: dict[int, _OpenPart] = {}
    pending: dict[Future[list[list[Found]]], _Chunk] = {}
    with ScoringChildren(work.job, processes) as children, ThreadPoolExecutor(processes) as threads:
        try:
            while True:
                while len(pending) < _AHEAD * processes and len(in_work) < _OPEN + processes:
                    if (chunk := next(chunks, None)) is None:
                        break
                    in_work.setdefault(chunk.part.number, _OpenPart(chunk.part))
                    pending[threads.submit(children.scored, chunk.rows)] = chunk
                if not pending:
                    return
                for future in wait(pending, return_when=FIRST_COMPLETED).done:
                    chunk = pending.pop(future)
                    part = in_work[chunk.part.number]
                    part.scores[chunk.start] = future.result()
                    advance(len(chunk.rows))
                    if part.is_done:
                        yield in_work.pop(part.part.number).table(names)
        finally:
            for future in pending:
                future.cancel()
            children.end()


@dataclass(frozen=True, slots=True)
class _Chunk:
    """Rows of a part that one child scores; `start` is the place of the first one in the part."""

    part: Part
    start: int
    rows: Sequence[Row]


@dataclass(slots=True)
class _OpenPart:
    """A part of which some chunks are scored."""

    part: Part
    scores: dict[int, list[list[Found]]] = field(default_factory=dict)

    @property
    def is_done(self) -> bool:
        return sum(map(len, self.scores.values())) == self.part.rows

    def table(self, names: Sequence[str]) -> tuple[Part, pa.Table]:
        found = [row for start in sorted(self.scores) for row in self.scores[start]]
        return self.part, score_table(found, names)


def _chunks(work: PartsToScore, processes: int) -> Iterator[_Chunk]:
    """Yield the rows of the parts, in order."""
    reader = RowReader(work.table, work.fields.columns)
    few = sum(part.rows for part in work.parts) // (_CHUNKS * processes)
    size = max(1, min(_CHUNK_ROWS, _CHUNK_BYTES // work.table.row_bytes, few))
    for part in work.parts:
        for start in range(0, part.rows, size):
            first = part.first + start
            piece = reader.read(first, min(size, part.rows - start))
            yield _Chunk(part, start, rows_of(piece, work.fields, first))

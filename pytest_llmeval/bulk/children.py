"""Scoring children as seen from the process that reads the table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import msgspec

from pytest_llmeval.bulk.job import Job, made_scorers
from pytest_llmeval.bulk.row import Found, Row
from pytest_llmeval.files.child_pool import ChildEndedError, ChildPool
from pytest_llmeval.scoring.scorer import score_names

_MAX_REPLY: Final = 64 * 2**20
"""Bytes of the scores of one row at most; their texts are cut long before."""


class EndedError(Exception):
    """The children were ended while they scored."""


class ScoringChildren:
    """A number of scoring children; thread-safe.

    A row that takes more processor time, memory or time on the clock than its job allows has an
    error in place of scores, and so has one whose child dies twice; the rows beside it are scored.
    """

    def __init__(self, job: Job, processes: int) -> None:
        """Create the children; each is started by the first rows that need it."""
        self._job, self._ended = job, False
        self._scores = sum(len(score_names(scorer)) for scorer in made_scorers(job))
        self._pool = ChildPool(
            Path(__file__).with_name("child.py"),
            (msgspec.json.encode(job).decode(),),
            processes=processes,
            wall_seconds=job.wall_seconds,
            max_reply=_MAX_REPLY,
        )
        self._decoder = msgspec.json.Decoder(list[Found])

    def scored(self, rows: Sequence[Row]) -> list[list[Found]]:
        """Return the scores of each row, in order.

        Raises:
            UsageError: a child does not start.
            EndedError: `end` was called meanwhile.
        """
        found: list[list[Found]] = []
        deaths = 0
        while len(found) < len(rows):
            begun = len(found)
            request = msgspec.json.encode(rows[begun:])
            try:
                replies = self._pool.each(request, len(rows) - begun)
                found.extend(map(self._decoder.decode, replies))
            except ChildEndedError as error:
                if self._ended:
                    raise EndedError from None
                deaths = deaths + 1 if len(found) == begun else 1
                # A child may be killed from outside; a row that kills its child does so again.
                if error.late or deaths > 1:
                    found.append([Found(error=self._reason(error))] * self._scores)
                    deaths = 0
        return found

    def end(self) -> None:
        """End all children, also those that score."""
        self._ended = True
        self._pool.end()

    def __enter__(self) -> Self:
        """Return the children."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        """End them."""
        self.end()

    def _reason(self, error: ChildEndedError) -> str:
        job = self._job
        if error.late:
            return (
                f"scoring it takes more than {job.cpu_seconds} s of processor time "
                f"or {job.wall_seconds:g} s on the clock"
            )
        return f"scoring it ends the process (it may have {job.memory_mb} MB of memory)"

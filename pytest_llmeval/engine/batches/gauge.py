"""How far the batches of a run are."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchGauge:
    """How far the batches of a run are.

    Attributes:
        sent: batches that were made, or gone on with, in this session.
        ended: those of them that have ended.
        waiting: requests that wait for a batch.
    """

    sent: int = 0
    ended: int = 0
    waiting: int = 0

    @property
    def open(self) -> int:
        """Number of batches that are with providers now."""
        return self.sent - self.ended

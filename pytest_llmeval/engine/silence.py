"""A model's silence: what failed since its last sign of life."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from dataclasses import dataclass, field


@dataclass(slots=True)
class Silence:
    """What failed since a model's last sign of life.

    Attributes:
        subjects: the distinct requests that failed (`Attempts.subject`).
        bursts: bursts of failures after which all requests paused.
    """

    subjects: set[Hashable] = field(default_factory=set)
    bursts: int = 0
    _since: float = 0.0

    @property
    def seconds(self) -> float:
        """Seconds since the first burst; 0 before it."""
        return asyncio.get_running_loop().time() - self._since if self.bursts else 0.0

    def add_burst(self) -> None:
        """Note a burst of failures."""
        if not self.bursts:
            self._since = asyncio.get_running_loop().time()
        self.bursts += 1

    def end(self) -> None:
        """Note a sign of life."""
        self.subjects.clear()
        self.bursts = 0

"""The memory of the soak's sessions: whether it grows from session to session."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from soak_session import Ended

FEWEST: Final = 4
"""Sessions of one kind, at least, from which a growth is calculated."""

GROWTH: Final = 0.1
"""Share by which the fitted peak of the last session of a kind may be above that of the first."""


def memory_lines(sessions: Sequence[Ended]) -> dict[str, str]:
    """Return a line on the peaks (MB) of each kind of session that came to its last row."""
    return {
        kind: f"{min(peaks):.0f} to {max(peaks):.0f} MB in {len(peaks)} sessions,"
        f" {growth(peaks):+.1f} MB from the first to the last"
        for kind, peaks in _peaks(sessions).items()
    }


def memory_breaches(sessions: Sequence[Ended]) -> Iterator[str]:
    """Yield the kinds of session whose memory grows."""
    for kind, peaks in _peaks(sessions).items():
        if len(peaks) >= FEWEST and growth(peaks) > GROWTH * statistics.mean(peaks):
            yield f"memory of sessions {kind}: {', '.join(f'{one:.0f}' for one in peaks)} MB"


def growth(peaks: Sequence[float]) -> float:
    """Return what a line through the peaks gains from the first to the last (MB)."""
    if len(peaks) < FEWEST:
        return 0.0
    return statistics.linear_regression(range(len(peaks)), peaks).slope * (len(peaks) - 1)


def _peaks(sessions: Sequence[Ended]) -> dict[str, list[float]]:
    """Return the peaks by kind, main processes and workers apart, in the order of the sessions."""
    found: dict[str, list[float]] = defaultdict(list)
    for ended in sessions:
        if ended.whole:
            found[ended.kind].append(ended.peak)
            if ended.worker_peak:
                found[f"{ended.kind}, a worker"].append(ended.worker_peak)
    return dict(found)

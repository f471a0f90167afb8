"""The CPU time that a process gets, to tell a costly query from a busy machine."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

_STARVED_BELOW: Final = 0.25
"""Share of the time limit: a query that computes all the time gets more than that on a machine that
is not overloaded."""

_HANGS_BELOW: Final = 0.05
"""Share of the time limit: a server that used less than that waits for something else."""


class CpuClock:
    """CPU seconds of a process since this clock was made; on Linux, elsewhere unknown."""

    def __init__(self, process_id: int) -> None:
        """Begin to measure."""
        self._stat = Path(f"/proc/{process_id}/stat")
        self._start = self._read()

    def starved(self, limit: float) -> bool:
        """Return whether a query that exceeded `limit` wall seconds wanted CPU time and got none.

        False where that is not known, or the process has ended.
        """
        now = self._read()
        if now is None or self._start is None:
            return False
        return limit * _HANGS_BELOW < now - self._start < limit * _STARVED_BELOW

    def _read(self) -> float | None:
        """Return user and system seconds of the process; None if /proc does not have it."""
        try:
            # The name, in brackets, may hold blanks; user and system time are the 14th and 15th.
            fields = self._stat.read_text().rpartition(")")[2].split()
        except OSError:
            return None
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

"""Resource limits of one evaluation in a child process."""

from __future__ import annotations

from typing import Final

from pytest_llmeval.records import Record

MEMORY_EXIT: Final = 77
"""Exit status of a child that ran out of memory."""

TOO_EXPENSIVE: Final = "too expensive to evaluate"

LEAST_MEMORY_MB: Final = 256
"""Megabytes that sympy needs to load."""


class Limits(Record, frozen=True, kw_only=True):
    """Limits on one evaluation. On Windows only the wall time is limited.

    Attributes:
        cpu_seconds: CPU time, which does not depend on the load of the machine.
        memory_mb: megabytes of address space (of resident memory on macOS).
        wall_seconds: wall time, for a child that neither computes nor answers.

    Raises:
        ValueError: a time is not positive, or the memory is too small for a child to start.
    """

    cpu_seconds: float = 60.0
    memory_mb: int = 1024
    wall_seconds: float = 600.0

    def __post_init__(self) -> None:
        """Check the limits."""
        positive = self.cpu_seconds > 0 and self.wall_seconds > 0
        if not positive or self.memory_mb < LEAST_MEMORY_MB:
            msg = f"{self}: seconds must be positive, memory at least {LEAST_MEMORY_MB} MB"
            raise ValueError(msg)

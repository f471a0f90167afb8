"""What one evaluation may cost in a child process."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final, cast

from pytest_llmeval.records import Json

MEMORY_EXIT: Final = 77
"""Exit status of a child that ran out of memory."""

TOO_EXPENSIVE: Final = "too expensive to evaluate"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits on one evaluation.

    CPU seconds decide, because load must not change scores; the wall limit (s) stands behind them
    for a child that neither computes nor answers. `memory_mb` caps the child's address space (its
    resident memory on macOS). On Windows only the wall limit holds.
    """

    cpu_seconds: float = 60.0
    memory_mb: int = 1024
    wall_seconds: float = 600.0

    def __post_init__(self) -> None:
        """Refuse limits under which no child could start."""
        if self.cpu_seconds <= 0 or self.wall_seconds <= 0 or self.memory_mb < 256:  # noqa: PLR2004 - see the message
            msg = f"{self}: seconds must be positive, and sympy alone takes 256 MB"
            raise ValueError(msg)

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form, which the child is started with."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Json]) -> Limits:
        """Return the limits that `to_json` wrote; the defaults for what is not named."""
        return cls(**cast("dict[str, Any]", data))

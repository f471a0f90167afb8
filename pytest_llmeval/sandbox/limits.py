"""What one run of a program may use."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits on one run. The kernel holds all of them but wall time, output and scratch.

    Attributes:
        wall_seconds: time until the program is killed.
        cpu_seconds: processor time, in whole seconds.
        memory_mb: megabytes of address space; macOS does not hold it.
        output_bytes: most bytes of standard output, and of standard error.
        scratch_mb: megabytes of all files in the scratch folder.
        file_mb: megabytes of one file.
        open_files: most open files.

    Raises:
        ValueError: a limit is not positive.
    """

    wall_seconds: float = 60.0
    cpu_seconds: int = 60
    memory_mb: int = 1024
    output_bytes: int = 1 << 20
    scratch_mb: int = 64
    file_mb: int = 16
    open_files: int = 64

    def __post_init__(self) -> None:
        """Check the limits."""
        for name in self.__slots__:
            if getattr(self, name) <= 0:
                msg = f"{name} is {getattr(self, name)!r}; a limit is a number above 0"
                raise ValueError(msg)

"""A plugin of pytest that moves the wall clock of its process, by the seconds in a shared file.

``-p soak_clock`` with SOAK_CLOCK naming a file of eight bytes, a float that is added to
`time.time` from then on, at each call. The monotonic clock stays right, as it does when an
operating system sets its clock.
"""

from __future__ import annotations

import mmap
import os
import struct
import time
from pathlib import Path
from typing import Final

FORMAT: Final = "<d"

_real = time.time


def pytest_configure() -> None:
    """Move the clock from now on."""
    with Path(os.environ["SOAK_CLOCK"]).open("rb") as file:
        moved = mmap.mmap(file.fileno(), struct.calcsize(FORMAT), access=mmap.ACCESS_READ)

    def moved_time() -> float:
        offset: float = struct.unpack(FORMAT, moved[:])[0]
        return _real() + offset

    time.time = moved_time


def pytest_unconfigure() -> None:
    """Give the clock back."""
    time.time = _real

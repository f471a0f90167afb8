"""The program that a session runs in, as the session sees it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """What a session needs from the program that it runs in.

    Attributes:
        tell: queues a line for the user; may be called from any thread.
        flush: shows the queued lines; must be called from the main thread.
        root: the folder whose git state is stored.
        stops_early: whether the first failure may end the session; fewer samples are then started
            ahead.
    """

    tell: Callable[[str], None]
    flush: Callable[[], None]
    root: Path
    stops_early: bool

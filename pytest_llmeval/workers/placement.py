"""How the broker has supervisors started: what Ray and commands have in common."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from pytest_llmeval.workers.connection import Connection


class PlacementError(Exception):
    """A worker cannot be started; the message says why, and the fix."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A supervisor that was started and authenticated.

    Attributes:
        connection: the way to it.
        ended: gets, when its place has ended, how: of a task or a command.
        end: ends its place, whatever state it is in.
    """

    connection: Connection
    ended: asyncio.Future[str]
    end: Callable[[], None]


class Placement(Protocol):
    """Starts supervisors."""

    async def open(self) -> None:
        """Get ready; PlacementError if no supervisor can be started."""
        ...

    async def place(self) -> Placed:
        """Start a supervisor and wait for it.

        Raises:
            PlacementError: it cannot be started.
        """
        ...

    async def shortage(self) -> str:
        """Return what may be missing if a supervisor does not come, or ""."""
        ...

    async def close(self) -> None:
        """End all that was started."""
        ...

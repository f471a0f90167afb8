"""Calls to a batch API that are repeated until they succeed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from pytest_llmeval.errors import ProviderError

T = TypeVar("T")

_LONGEST: Final = 20
"""The wait between two calls grows up to so many times the first one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeating:
    """How calls are repeated that cost nothing, such as the question for a batch's state.

    Attributes:
        pause: seconds before the first repetition; the pauses double.
        tell: shows a line to the user.
    """

    pause: float
    tell: Callable[[str], None]

    async def call(self, call: Callable[[], Awaitable[T]]) -> T:
        """Return what a call returns, once it succeeds; the first failure is shown to the user.

        A network that is away for a night ends nothing.

        Args:
            call: may be repeated at will.

        Raises:
            ProviderError: no repetition would change the failure.
        """
        failures = 0
        while True:
            try:
                return await call()
            except ProviderError as error:
                if error.reach != "attempt":
                    raise
                if not failures:
                    self.tell(f"batches: asked again until it succeeds: {error}")
                grown = self.pause * min(_LONGEST, 2.0**failures)
                wait = max(grown, error.retry_after or 0.0)
            failures += 1
            await asyncio.sleep(wait)

"""The failed attempts of one request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Final

from pytest_llmeval.errors import FailedAttempt
from pytest_llmeval.records import Request

MAX_ATTEMPTS: Final = 10
"""Attempts of a request that fail by themselves. The waits between them take 90 s on average."""

MAX_TIMEOUTS: Final = 3
"""Attempts of a request that end by time-out: the provider may have charged for each of them."""

MAX_REFUSALS: Final = 30
"""Attempts of a request that are refused for a reason that others may share (limits, overload,
outages). They cost nothing."""


@dataclass(slots=True, kw_only=True)
class Attempts:
    """The failed attempts of one request.

    Attributes:
        subject: what is asked. Draws and epochs of one prompt have the same: if one of them is
            refused, so are the others.
        allowed: attempts that may fail by themselves.
        refused: failures for a reason that others may share.
        own: the other failures, by cause.
        waits: failures after which it waited by itself, while others were sent.
        singled_out: its last failures in a row between which no other request failed, while some
            were answered.
        answered_before: requests that the model had answered at the first failure; None before it.
        seen: replies and failures of the model at the last failure.
        failures: each of them, in order.
    """

    subject: Hashable
    allowed: int = MAX_ATTEMPTS
    refused: int = 0
    own: Counter[str] = field(default_factory=Counter)
    waits: int = 0
    singled_out: int = 0
    answered_before: int | None = None
    seen: tuple[int, int] = (0, 0)
    failures: list[FailedAttempt] = field(default_factory=list)

    @classmethod
    def of(cls, request: Request, *, allowed: int) -> Attempts:
        """Return the attempts at a request that has not been sent."""
        return cls(subject=(request.operation, request.messages), allowed=allowed)

    @property
    def total(self) -> int:
        """Number of failed attempts."""
        return self.refused + self.own.total()

    @property
    def exhausted(self) -> bool:
        """Whether another attempt is not worth it."""
        return (
            self.refused >= MAX_REFUSALS
            or self.singled_out >= self.allowed
            or self.own["timeout"] >= MAX_TIMEOUTS
            or self.own.total() >= self.allowed
        )

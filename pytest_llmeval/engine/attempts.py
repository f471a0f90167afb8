"""The failed attempts of one request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Final

from pytest_llmeval.records import Request

MAX_ATTEMPTS: Final = 10
"""Attempts of a request that fail by themselves. The waits between them take 90 s on average."""

MAX_TIMEOUTS: Final = 3
"""Attempts of a request that end by time-out: the provider may have charged for each of them."""

MAX_SHARED: Final = 30
"""Attempts of a request that fail together with others' (limits, overload, outages).

Each follows a pause of all requests, and costs nothing.
"""


@dataclass(slots=True, kw_only=True)
class Attempts:
    """The failed attempts of one request.

    Attributes:
        subject: what is asked. Draws and epochs of one prompt have the same: if one of them is
            refused, so are the others.
        allowed: attempts that may fail by themselves.
        shared: failures for which the whole model is to blame, as far as can be told.
        own: the other failures, by cause.
        answered_before: requests that the model had answered at the first failure; None before it.
    """

    subject: Hashable
    allowed: int = MAX_ATTEMPTS
    shared: int = 0
    own: Counter[str] = field(default_factory=Counter)
    answered_before: int | None = None

    @classmethod
    def of(cls, request: Request, *, allowed: int) -> Attempts:
        """Return the attempts at a request that has not been sent."""
        return cls(subject=(request.operation, request.messages), allowed=allowed)

    @property
    def total(self) -> int:
        """Number of failed attempts."""
        return self.shared + self.own.total()

    @property
    def exhausted(self) -> bool:
        """Whether another attempt is not worth it."""
        return (
            self.shared >= MAX_SHARED
            or self.own["timeout"] >= MAX_TIMEOUTS
            or self.own.total() >= self.allowed
        )

"""What a failed attempt ends: nothing, its request, or the whole model."""

from __future__ import annotations

from collections import Counter
from typing import Final, assert_never

from pytest_llmeval.engine.limits import Limiter
from pytest_llmeval.errors import ProviderError, Reach

MAX_ATTEMPTS: Final = 10
"""Attempts of a request, refusals aside. The waits between them take 90 s on average."""

MAX_TIMEOUTS: Final = 3
"""Attempts of a request that end by time-out: the provider may have charged for each of them."""

MAX_REFUSALS: Final = 30
"""Attempts of a request that are refused (too many, overloaded, unreachable).

Each follows a pause of all requests, and costs nothing. Whether the server is away for good is
decided for the model, not for the request.
"""

LOST_AFTER: Final = 10
"""Bursts of refusals, besides the patience, that it takes to lose a model.

Without them a model could be lost while long replies are under way: bursts shrink the concurrency
until those replies fill it, and then nothing is sent that could be refused.
"""

DEAD_AFTER: Final = 4
"""Bursts of unreachable attempts that lose a model that never answered."""

ALIKE: Final = 5
"""Number of first requests that lose the model if all of them fail with the same message."""

_OVERLOADED: Final = frozenset({429, 502, 503, 529})
_REFUSED: Final = "refused"
"""The key of refusals (see `is_refusal`) among a request's failures, whatever their causes."""


class FailurePolicy:
    """Decides what failures of one model end. A lost model's limiter refuses all requests."""

    def __init__(
        self, name: str, limits: Limiter, *, patience: float, max_attempts: int = MAX_ATTEMPTS
    ) -> None:
        """Decide for one model.

        Args:
            name: the model's name, for messages.
            limits: the model's limiter, which counts bursts of refusals.
            patience: seconds that the server may be away.
            max_attempts: attempts of a request, refusals aside.
        """
        self._name, self._limits = name, limits
        self._patience, self._max_attempts = patience, max_attempts
        self._answered = False
        self._first_failures: list[str] | None = []

    def replied(self) -> None:
        """Note a reply."""
        self._answered, self._first_failures = True, None

    def failed(self, error: ProviderError) -> None:
        """Note a failed attempt; all causes but "unreachable" show that a server is there."""
        self._answered = self._answered or error.cause != "unreachable"

    def final(self, error: ProviderError, failures: Counter[str]) -> ProviderError | None:
        """Return the error that ends a request, or None when another attempt is worth it.

        Args:
            error: the last failure.
            failures: all failures of the request (see `counted_as`).
        """
        match error.reach:
            case "model":
                return self._lose(error)
            case "sample":
                return self._unless_all_alike(error, str(error))
            case "attempt":
                if self._is_lost(error):
                    return self._lose(self._farewell(error))
                if not self._is_exhausted(failures):
                    return None
                problem = (
                    f"{self._name}: gave up after {failures.total()} attempts; "
                    f"the last one: {error}"
                )
                return self._unless_all_alike(_alike(error, problem, reach="sample"), str(error))
            case _:
                assert_never(error.reach)

    def _is_lost(self, error: ProviderError) -> bool:
        """Return whether the server is away for good; one request after each pause finds out."""
        if not is_refusal(error):
            return False
        if not self._answered:
            return self._limits.silent_bursts >= DEAD_AFTER
        return (
            self._limits.silent_bursts >= LOST_AFTER
            and self._limits.silent_seconds >= self._patience
        )

    def _farewell(self, error: ProviderError) -> ProviderError:
        if not self._answered:
            return error
        silence = f"no reply for {self._limits.silent_seconds:.0f} s"
        return _alike(error, f"{self._name}: {silence}; the last error: {error}")

    def _is_exhausted(self, failures: Counter[str]) -> bool:
        return (
            failures[_REFUSED] >= MAX_REFUSALS
            or failures["timeout"] >= MAX_TIMEOUTS
            or unrefused(failures) >= self._max_attempts
        )

    def _unless_all_alike(self, error: ProviderError, message: str) -> ProviderError:
        """Return the request's error, or the model's if all first requests failed like this."""
        if self._first_failures is None:
            return error
        self._first_failures.append(message)
        if len(self._first_failures) < ALIKE:
            return error
        all_alike = len(set(self._first_failures)) == 1
        self._first_failures = None
        if not all_alike:
            return error
        return self._lose(_alike(error, f"the first {ALIKE} requests failed alike: {error}"))

    def _lose(self, error: ProviderError) -> ProviderError:
        error = _alike(error, str(error))
        # A new one for each request: an exception raised twice gathers both tracebacks.
        self._limits.stop(lambda: _alike(error, str(error)))
        return error


def is_refusal(error: ProviderError) -> bool:
    """Return whether the cause concerns all requests alike: too many, overloaded, unreachable."""
    return error.reach == "attempt" and (
        error.status in _OVERLOADED or error.cause == "unreachable"
    )


def counted_as(error: ProviderError) -> str:
    """Return the key under which a request's failures count this one."""
    return _REFUSED if is_refusal(error) else error.cause


def unrefused(failures: Counter[str]) -> int:
    """Return the number of a request's failures other than refusals."""
    return failures.total() - failures[_REFUSED]


def _alike(error: ProviderError, problem: str, *, reach: Reach = "model") -> ProviderError:
    return ProviderError(problem, reach=reach, status=error.status, cause=error.cause)

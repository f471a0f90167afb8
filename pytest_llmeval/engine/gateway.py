"""The way to one model: its limits, the budget, time-outs, retries, and the decision that a model is lost."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Final, assert_never

from pytest_llmeval.engine.budget import Budget
from pytest_llmeval.engine.limits import PAUSE_CAP, Limiter, Slot
from pytest_llmeval.engine.ports import Provider
from pytest_llmeval.engine.statistics import CallStatistics
from pytest_llmeval.engine.tickets import Ticket
from pytest_llmeval.errors import ProviderError, Reach
from pytest_llmeval.records import Json, Reply, Request, Usage

MAX_ATTEMPTS: Final = 10
"""Attempts for a request, refusals aside.

The waits between them come to a minute and a half in the mean.
"""

MAX_TIMEOUTS: Final = 3
"""Attempts of a request that end by time-out: the provider may have worked, and charged, for each
of them."""

MAX_REFUSALS: Final = 30
"""Attempts of a request that are refused (too many, overloaded, not there): each follows a pause of
all requests, and costs nothing. Whether the server is away for good is found out about the model,
not the request."""

PATIENCE: Final = 180.0
"""Seconds that a server may be away, counted from the first refusal without a reply since, before
its model is lost."""

LOST_AFTER: Final = 10
"""Bursts of refusals that it takes besides. Long replies under way are no absence: bursts shrink
the concurrency until they fill it, and then nothing is sent that could be refused."""

DEAD_AFTER: Final = 4
"""Bursts of unreachable attempts that end a model where nothing ever answered."""

ALIKE: Final = 5
"""If so many requests fail before any succeeds, and all with the same message, the model is
lost."""

FIRST_BACKOFF: Final = 0.5
"""Upper bound of the first wait before a retry, in seconds; it doubles each time, up to
`BACKOFF_CAP`."""

BACKOFF_CAP: Final = 60.0
"""Upper bound of any wait before a retry, in seconds."""

CHARACTERS_PER_TOKEN: Final = 4
TOKENS_PER_IMAGE: Final = 1000
FIRST_OUTPUT_TOKENS: Final = 1000
"""Rough figures to reserve by; replies correct them.

The output is expected to be the mean of those seen.
"""

CEILINGS: Final = ("max_completion_tokens", "max_output_tokens", "max_tokens")
"""The parameters that limit a reply's tokens."""

_OVERLOADED: Final = frozenset({429, 502, 503, 529})
_REFUSED: Final = "refused"
"""What refusals (see `_is_refusal`) are counted under among a request's failures, whatever their
causes."""


class Gateway:
    """Sends requests to one model. Used from the engine's loop only.

    Attempts that failed are repeated with full jitter (a random share of a growing wait); what a
    failure ends is told by its `reach`. A failure that reaches the model ends it: all later
    requests raise the same error at once.
    """

    def __init__(  # noqa: PLR0913 - the parts of a gateway, all named at the call
        self,
        provider: Provider,
        *,
        name: str,
        limits: Limiter,
        budget: Budget,
        timeout: float,
        statistics: CallStatistics,
        patience: float = PATIENCE,
        max_attempts: int = MAX_ATTEMPTS,
        jitter: Callable[[], float] = random.random,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Take the model's name on the command line, and the seconds that one attempt may take and a server be away.

        `statistics` should be the ones that `limits` writes to. `jitter` draws from 0..1.
        """
        self._provider, self._name, self._timeout, self._patience = (
            provider,
            name,
            timeout,
            patience,
        )
        self._limits, self._budget, self._statistics = limits, budget, statistics
        self._max_attempts, self._jitter, self._sleep = max_attempts, jitter, sleep
        self._answered = False
        self._first_failures: list[str] | None = []

    async def ask(self, request: Request, ticket: Ticket) -> tuple[Reply, int]:
        """Return the reply, its usage priced, and the number of attempts.

        ProviderError when the sample or the model failed, or an attempt that nobody waits for any
        more; RunStopped when the budget is reached.
        """
        failures: Counter[str] = Counter()
        while True:
            async with self._limits.slot(
                ticket, tokens=self._expected(request).total_tokens
            ) as slot:
                outcome = await self._send(request, slot, ticket)
                if isinstance(outcome, Reply):
                    return outcome, failures.total() + 1
                failures[_REFUSED if _is_refusal(outcome) else outcome.cause] += 1
                if not ticket.wanted:
                    self._statistics.abandoned += 1
                    raise outcome
                # Decided while the slot is held: a lost model grants it to nobody.
                final = self._final(outcome, failures)
                if final is not None:
                    self._statistics.errors[outcome.cause] += 1
                    raise final
            self._statistics.retries[outcome.cause] += 1
            if not _is_refusal(outcome):
                await self._back_off(outcome, failures)

    @property
    def in_flight(self) -> int:
        """How many requests are with the provider now."""
        return self._limits.in_flight

    @property
    def usage(self) -> Usage:
        """What all replies so far used."""
        return self._statistics.usage

    @property
    def statistics(self) -> CallStatistics:
        """What the calls came to so far."""
        return self._statistics

    async def close(self) -> None:
        """Let go of the provider's connections."""
        await self._provider.close()

    def _expected(self, request: Request) -> Usage:
        characters = sum(len(message.text) for message in request.messages)
        images = sum(len(message.images) for message in request.messages)
        replies = self._statistics.replies
        output = self._statistics.usage.output_tokens // replies if replies else FIRST_OUTPUT_TOKENS
        ceiling = ceiling_of(request.parameters)
        return Usage(
            input_tokens=characters // CHARACTERS_PER_TOKEN + images * TOKENS_PER_IMAGE,
            output_tokens=output if ceiling is None else min(output, ceiling),
        )

    async def _send(self, request: Request, slot: Slot, ticket: Ticket) -> Reply | ProviderError:
        async with self._budget.reserved(partial(self._expected, request), self._name):
            self._statistics.requests += 1
            try:
                with ticket.sent():
                    async with asyncio.timeout(self._timeout):
                        reply = await self._provider.send(request)
            except TimeoutError:
                problem = f"{self._name}: no reply within {self._timeout:g} s (--llmeval-timeout)"
                error = ProviderError(problem, reach="attempt", cause="timeout")
            except ProviderError as raised:
                error = raised
            except BaseException:
                self._statistics.abandoned += 1
                raise
            else:
                return self._book(reply, slot)
        self._statistics.statuses[error.status or 0] += 1
        self._answered = self._answered or error.cause != "unreachable"
        if _is_refusal(error):
            self._limits.throttled(slot, retry_after=error.retry_after)
        return error

    def _book(self, reply: Reply, slot: Slot) -> Reply:
        if reply.usage.cost is None:
            cost = self._budget.cost_of(reply.usage, self._name)
            reply = replace(reply, usage=replace(reply.usage, cost=cost))
        self._budget.settle(reply.usage, self._name)
        self._limits.replied(slot, tokens=reply.usage.total_tokens)
        self._answered, self._first_failures = True, None
        self._statistics.replies += 1
        self._statistics.statuses[200] += 1
        self._statistics.usage += reply.usage
        self._statistics.latencies.append(reply.latency)
        return reply

    def _final(self, error: ProviderError, failures: Counter[str]) -> ProviderError | None:
        """Return the error that ends the request, or None when it is worth another attempt."""
        match error.reach:
            case "model":
                return self._stop(error)
            case "sample":
                return self._unless_all_alike(error, str(error))
            case "attempt":
                if self._is_lost(error):
                    return self._stop(self._farewell(error))
                if not self._is_exhausted(failures):
                    return None
                problem = f"{self._name}: gave up after {failures.total()} attempts; the last one: {error}"
                return self._unless_all_alike(_alike(error, problem, reach="sample"), str(error))
            case _:
                assert_never(error.reach)

    def _is_lost(self, error: ProviderError) -> bool:
        """Tell whether the server is away for good.

        One probe after each pause finds out, whoever's request it is.
        """
        if not _is_refusal(error):
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
        return _alike(
            error,
            f"{self._name}: no reply for {self._limits.silent_seconds:.0f} s; the last error: {error}",
        )

    def _is_exhausted(self, failures: Counter[str]) -> bool:
        return (
            failures[_REFUSED] >= MAX_REFUSALS
            or failures["timeout"] >= MAX_TIMEOUTS
            or failures.total() - failures[_REFUSED] >= self._max_attempts
        )

    def _unless_all_alike(self, error: ProviderError, message: str) -> ProviderError:
        """Return the sample's error, or the model's when nothing but this failure was ever seen."""
        if self._first_failures is None:
            return error
        self._first_failures.append(message)
        if len(self._first_failures) < ALIKE:
            return error
        all_alike = len(set(self._first_failures)) == 1
        self._first_failures = None
        return (
            self._stop(_alike(error, f"the first {ALIKE} requests failed alike: {error}"))
            if all_alike
            else error
        )

    def _stop(self, error: ProviderError) -> ProviderError:
        error = _alike(error, str(error))
        # A new one for each: an exception raised twice gathers both tracebacks.
        self._limits.stop(lambda: _alike(error, str(error)))
        return error

    async def _back_off(self, error: ProviderError, failures: Counter[str]) -> None:
        doublings = failures.total() - failures[_REFUSED] - 1
        seconds = self._jitter() * min(BACKOFF_CAP, FIRST_BACKOFF * 2.0**doublings)
        if error.retry_after is not None:
            seconds = max(seconds, min(error.retry_after, PAUSE_CAP))
        self._statistics.backoff_seconds += seconds
        await self._sleep(seconds)


def ceiling_of(parameters: Mapping[str, Json]) -> int | None:
    """Return how many tokens a request's parameters allow its reply; None where they set no limit."""
    limits = (parameters.get(name) for name in CEILINGS)
    return next((limit for limit in limits if isinstance(limit, int)), None)


def _is_refusal(error: ProviderError) -> bool:
    """Tell whether the error concerns all requests alike: the limiter then slows them down and has them wait."""
    return error.reach == "attempt" and (
        error.status in _OVERLOADED or error.cause == "unreachable"
    )


def _alike(error: ProviderError, problem: str, *, reach: Reach = "model") -> ProviderError:
    return ProviderError(problem, reach=reach, status=error.status, cause=error.cause)

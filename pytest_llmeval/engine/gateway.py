"""The way to one model: limits, budget, time-outs and retries."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final, Self

from msgspec.structs import replace

from pytest_llmeval.engine.attempts import MAX_ATTEMPTS, Attempts
from pytest_llmeval.engine.budget import Budget
from pytest_llmeval.engine.expectation import expected_usage
from pytest_llmeval.engine.failures import OVERLOADED, FailurePolicy
from pytest_llmeval.engine.limits import PAUSE_CAP, Limiter, Slot
from pytest_llmeval.engine.ports import Provider, StartingProvider
from pytest_llmeval.engine.spec_settings import PATIENCE
from pytest_llmeval.engine.specs import ModelSpec
from pytest_llmeval.engine.statistics import CallStatistics
from pytest_llmeval.engine.tickets import Ticket
from pytest_llmeval.errors import FailedAttempt, ProviderError
from pytest_llmeval.records import Reply, Request

FIRST_BACKOFF: Final = 0.5
"""Upper bound of the first wait before a retry (s); it doubles each time, up to `BACKOFF_CAP`."""

BACKOFF_CAP: Final = 60.0
"""Upper bound of any wait before a retry (s)."""

PAUSES_OF_PATIENCE: Final = 6
"""Part of the patience with a server that one pause takes, at most: it is tried several times."""


class Gateway:
    """Sends requests to one model. Belongs to the engine's event loop.

    Failed attempts are repeated with jitter (a random share of a growing wait). Once a failure
    has ended the model, each request raises that error at once; likewise each request with
    pictures, once the model has refused one because it reads none.
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
        """Send by a provider.

        Args:
            provider: the provider of the model.
            name: the model's name on the command line.
            limits: the model's limiter.
            budget: what the calls count against.
            timeout: seconds that one attempt may take.
            statistics: counts the calls; the same object as the limiter's.
            patience: seconds that the server may be away.
            max_attempts: attempts of a request that may fail by themselves.
            jitter: draws from 0..1.
            sleep: waits for some seconds.
        """
        self._provider, self._name, self._timeout = provider, name, timeout
        self._starting = provider if isinstance(provider, StartingProvider) else None
        self._limits, self._budget, self._statistics = limits, budget, statistics
        self._policy = FailurePolicy(name, limits, patience=patience)
        self._max_attempts, self._jitter, self._sleep = max_attempts, jitter, sleep
        self._sees = False
        self._blind: ProviderError | None = None

    @classmethod
    def of(cls, spec: ModelSpec, provider: Provider, *, budget: Budget, concurrency: int) -> Self:
        """Return the gateway to the model of a spec, with the spec's limits.

        Args:
            spec: the model, bare (`ModelSpec.bare`).
            provider: the provider of the model.
            budget: what the calls count against.
            concurrency: requests in flight, at most, if the spec does not say.
        """
        statistics = CallStatistics()
        limits = Limiter(
            spec.limits.concurrency or concurrency,
            rpm=spec.limits.rpm,
            tpm=spec.limits.tpm,
            statistics=statistics,
            longest_pause=spec.patience / PAUSES_OF_PATIENCE,
        )
        return cls(
            provider,
            name=spec.label,
            limits=limits,
            budget=budget,
            timeout=spec.timeout,
            patience=spec.patience,
            statistics=statistics,
        )

    async def ask(
        self, request: Request, ticket: Ticket
    ) -> tuple[Reply, tuple[FailedAttempt, ...]]:
        """Return the reply, with its cost, and the attempts that failed before it.

        Raises:
            ProviderError: the request or the model failed, or an attempt failed whose reply is
                not wanted any more.
            RunStopped: the budget is reached.
        """
        if self._starting is not None:
            await self._starting.start()
        attempts = Attempts.of(request, allowed=self._max_attempts)
        while True:
            self._check_pictures(request)
            tokens = expected_usage(request, self._statistics).total_tokens
            async with self._limits.slot(ticket, tokens=tokens, refusals=attempts.refused) as slot:
                self._check_pictures(request)
                start = time.time()
                outcome = await self._send(request, slot, ticket)
                if isinstance(outcome, Reply):
                    return outcome, tuple(attempts.failures)
                attempts.failures.append(
                    FailedAttempt(outcome.cause, start, max(0.0, time.time() - start))
                )
                all_pause = self._policy.failed(outcome, attempts, slot)
                if not ticket.wanted:
                    self._statistics.abandoned += 1
                    outcome.failures = tuple(attempts.failures)
                    raise outcome
                # Decided while the slot is held, so that a lost model grants it to no request.
                final = self._policy.final(outcome, attempts)
                if final is not None:
                    self._statistics.errors[outcome.cause] += 1
                    final.failures = tuple(attempts.failures)
                    raise final
            self._statistics.retries[outcome.cause] += 1
            if not all_pause:
                await self._back_off(outcome, attempts.waits)

    @property
    def in_flight(self) -> int:
        """Number of requests that are with the provider now."""
        return self._limits.in_flight

    @property
    def statistics(self) -> CallStatistics:
        """Counts of the calls so far."""
        return self._statistics

    async def close(self) -> None:
        """Close the provider."""
        await self._provider.close()

    async def _send(self, request: Request, slot: Slot, ticket: Ticket) -> Reply | ProviderError:
        expect = partial(expected_usage, request, self._statistics)
        async with self._budget.reserved(expect, self._name):
            self._statistics.requests += 1
            try:
                with ticket.sent():
                    async with asyncio.timeout(self._timeout):
                        reply = await self._provider.send(request)
            except TimeoutError:
                problem = f"{self._name}: no reply within {self._timeout:g} s (its spec's timeout=)"
                error = ProviderError(problem, reach="attempt", cause="timeout")
            except ProviderError as raised:
                error = raised
            except BaseException:
                self._statistics.abandoned += 1
                raise
            else:
                self._sees = self._sees or request.has_pictures
                return self._book(reply, slot)
        self._statistics.statuses[error.status or 0] += 1
        return self._of_pictures(error, request) if error.reach == "pictures" else error

    def _of_pictures(self, error: ProviderError, request: Request) -> ProviderError:
        """Return a refusal of pictures as what it ends, and remember it if it is all of them."""
        if self._sees or not request.has_pictures:
            return ProviderError(str(error), status=error.status, cause=error.cause)
        self._blind = error
        return error

    def _check_pictures(self, request: Request) -> None:
        """Raise the error of a model that reads no pictures for a request that has some."""
        if self._blind is not None and request.has_pictures:
            blind = self._blind
            raise ProviderError(
                str(blind), reach=blind.reach, status=blind.status, cause=blind.cause
            )

    def _book(self, reply: Reply, slot: Slot) -> Reply:
        if reply.usage.cost is None:
            cost = self._budget.cost_of(reply.usage, self._name)
            reply = replace(reply, usage=replace(reply.usage, cost=cost))
        self._budget.settle(reply.usage, self._name)
        self._limits.replied(slot, tokens=reply.usage.total_tokens)
        self._policy.replied()
        self._statistics.replies += 1
        self._statistics.statuses[200] += 1
        self._statistics.usage += reply.usage
        self._statistics.latencies.append(reply.latency)
        return reply

    async def _back_off(self, error: ProviderError, waits: int) -> None:
        """Wait before a request's next attempt; `waits` counts its waits so far, with this one."""
        share = self._jitter()
        if error.status in OVERLOADED:
            # At least half: ten attempts then span the minute for which most limits count.
            share = (1 + share) / 2
        seconds = share * min(BACKOFF_CAP, FIRST_BACKOFF * 2.0 ** (waits - 1))
        if error.retry_after is not None:
            seconds = max(seconds, min(error.retry_after, PAUSE_CAP))
        self._statistics.backoff_seconds += seconds
        await self._sleep(seconds)

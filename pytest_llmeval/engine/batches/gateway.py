"""The way to one model whose requests go into batches."""

from __future__ import annotations

import time
from functools import partial
from typing import Final

from msgspec.structs import replace

from pytest_llmeval.engine.batches.batches import Batches
from pytest_llmeval.engine.batches.desk import Desk
from pytest_llmeval.engine.batches.ports import BatchService
from pytest_llmeval.engine.budget import Budget
from pytest_llmeval.engine.expectation import expected_usage
from pytest_llmeval.engine.gateway import Gateway
from pytest_llmeval.engine.statistics import CallStatistics
from pytest_llmeval.engine.tickets import Ticket
from pytest_llmeval.errors import FailedAttempt, ProviderError
from pytest_llmeval.records import Reply, Request

MOST_BATCHES: Final = 5
"""Batches in which one request is sent, at most; those that expired count."""


class BatchGateway:
    """Sends a model's requests in batches, and those that cannot wait by another gateway.

    These are requests for pictures, and those of test bodies.
    """

    def __init__(  # noqa: PLR0913 - the parts of a gateway, all named at the call
        self,
        online: Gateway,
        service: BatchService,
        desk: Desk,
        batches: Batches,
        *,
        name: str,
        budget: Budget,
    ) -> None:
        """Send by a desk.

        Args:
            online: for requests that cannot wait.
            service: reads results.
            desk: the model's desk.
            batches: get to know which requests failed.
            name: the name under which the budget has the price of batches.
            budget: what the calls count against.
        """
        self._online, self._service, self._desk, self._batches = online, service, desk, batches
        self._name, self._budget = name, budget

    async def ask(
        self, request: Request, ticket: Ticket
    ) -> tuple[Reply, tuple[FailedAttempt, ...]]:
        """Return the reply, with its cost, and the attempts that failed before it.

        Raises:
            ProviderError: the request or the model failed.
            RunStopped: the budget is reached, or the run does not wait for its batches any longer.
        """
        if ticket.online or request.operation != "chat":
            return await self._online.ask(request, ticket)
        failures: list[FailedAttempt] = []
        with ticket.held():
            while True:
                start = time.time()
                outcome = await self._sent(request)
                if isinstance(outcome, Reply):
                    return outcome, tuple(failures)
                failures.append(FailedAttempt(outcome.cause, start, time.time() - start))
                self._desk.forget(request)
                if outcome.reach != "attempt" or len(failures) >= MOST_BATCHES:
                    raise self._final(outcome, request, failures)
                self.statistics.retries[outcome.cause] += 1

    @property
    def in_flight(self) -> int:
        """Number of requests outside of batches that are with the provider now."""
        return self._online.in_flight

    @property
    def statistics(self) -> CallStatistics:
        """Counts of the calls so far."""
        return self._online.statistics

    async def close(self) -> None:
        """Close the desk and the other gateway; batches go on at the provider."""
        await self._desk.close()
        await self._online.close()

    async def _sent(self, request: Request) -> Reply | ProviderError:
        expect = partial(expected_usage, request, self.statistics)
        async with self._budget.reserved(expect, self._name):
            self.statistics.requests += 1
            try:
                line = await self._desk.line(request)
                reply = await self._service.reply(line, request)
            except ProviderError as error:
                self.statistics.statuses[error.status or 0] += 1
                return error
            except BaseException:
                self.statistics.abandoned += 1
                raise
        return self._book(reply)

    def _book(self, reply: Reply) -> Reply:
        """Return a reply as one of a batch: at its price, and without a latency, which it lacks."""
        usage = reply.usage
        cost = self._budget.cost_of(usage, self._name) if usage.cost is None else usage.cost
        usage = replace(usage, cost=cost, batched=usage.requests)
        self._budget.settle(usage, self._name)
        self.statistics.replies += 1
        self.statistics.statuses[200] += 1
        self.statistics.usage += usage
        return replace(reply, usage=usage, latency=0.0)

    def _final(
        self, error: ProviderError, request: Request, failures: list[FailedAttempt]
    ) -> ProviderError:
        if error.reach != "model":  # otherwise its batch may still be open
            self._batches.failed(request.key)
        self.statistics.errors[error.cause] += 1
        if error.reach == "attempt":
            problem = f"gave up after {len(failures)} batches; the last one: {error}"
            error = ProviderError(problem, status=error.status, cause=error.cause)
        error.failures = tuple(failures)
        return error

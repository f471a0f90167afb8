"""The batches of a run: a desk for each model, one journal, and the time that the run waits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from typing import Final

from pytest_llmeval.engine.batches.desk import Desk, DeskParts
from pytest_llmeval.engine.batches.dispatch import Dispatch
from pytest_llmeval.engine.batches.following import Following
from pytest_llmeval.engine.batches.gauge import BatchGauge
from pytest_llmeval.engine.batches.journal import BatchJournal
from pytest_llmeval.engine.batches.ports import BatchService
from pytest_llmeval.engine.batches.repeating import Repeating
from pytest_llmeval.engine.batches.settings import BATCH, BatchSettings
from pytest_llmeval.errors import RunStopped

_LEAVING: Final = 0.5
"""Seconds between two looks at whether all requests are sent, before the run leaves them."""


class Batches:
    """Belongs to the event loop."""

    def __init__(
        self,
        journal: BatchJournal,
        settings: BatchSettings,
        *,
        others: Sequence[BatchJournal] = (),
        tell: Callable[[str], None],
    ) -> None:
        """Begin without a desk.

        Args:
            journal: the run's own.
            settings: how batches are waited for.
            others: journals of other places, whose batches are gone on with; closed with this.
            tell: shows a line to the user.
        """
        self._journal, self._settings, self._tell = journal, settings, tell
        self._others = tuple(others)
        self._desks: list[Desk] = []
        self._leaving: asyncio.Task[None] | None = None
        self._failed: set[str] = set()
        self._last = BatchGauge()
        journal.settle()

    def desk(self, model: str, service: BatchService, *, endpoint: str) -> Desk:
        """Return a new desk for a model.

        Args:
            model: the model's label.
            service: the provider's batch API; it is closed with the desk.
            endpoint: address that the environment gives the provider; "" for its default.
        """
        for other in self._others:
            self._journal.adopt(other, model, endpoint)
        repeating = Repeating(pause=self._settings.poll, tell=self._tell)
        dispatch = Dispatch(service, self._journal, repeating, model=model, endpoint=endpoint)
        parts = DeskParts(
            model=model,
            service=service,
            journal=self._journal,
            dispatch=dispatch,
            following=Following(service, self._journal, dispatch, repeating, self._settings),
            settings=self._settings,
            tell=self._tell,
        )
        earlier = [
            one for one in self._journal.batches() if (one.model, one.endpoint) == (model, endpoint)
        ]
        desk = Desk(parts, earlier)
        self._desks.append(desk)
        if self._leaving is None and self._settings.wait is not None:
            self._leaving = asyncio.create_task(self._leave_after(self._settings.wait))
        return desk

    @property
    def gauge(self) -> BatchGauge:
        """How far the batches are. May be read from any thread, also after `close`."""
        return self._last if not self._desks else self._gauge(tuple(self._desks))

    def failed(self, key: str) -> None:
        """Note that a request failed for good, so that a later session asks it anew."""
        self._failed.add(key)

    def close(self) -> None:
        """Forget what is over, and close the journals; to be called once all desks are closed."""
        self._last = self._gauge(self._desks)
        self._desks = []
        if self._leaving is not None:
            self._leaving.cancel()
        self._journal.settle(self._failed)
        for journal in (self._journal, *self._others):
            journal.close()

    def _gauge(self, desks: Collection[Desk]) -> BatchGauge:
        return BatchGauge(
            sent=sum(desk.sent for desk in desks),
            ended=sum(desk.ended for desk in desks),
            waiting=sum(desk.waiting for desk in desks),
        )

    async def _leave_after(self, wait: float) -> None:
        """End all waits after some seconds, once everything that waits is with the providers."""
        loop = asyncio.get_running_loop()
        end = None
        while True:
            await asyncio.sleep(_LEAVING)
            if end is None and any(desk.sent for desk in self._desks):
                end = loop.time() + wait
            busy = any(desk.busy for desk in self._desks)
            if end is not None and loop.time() >= end and not busy:
                break
        reason = f"batches are left with the provider ({BATCH} wait={wait:g})"
        for desk in self._desks:
            desk.stop(lambda: RunStopped(reason))

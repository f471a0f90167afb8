"""Following one batch until it has ended and its results are stored."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from http import HTTPStatus
from typing import Final

from pytest_llmeval.engine.batches.dispatch import Dispatch
from pytest_llmeval.engine.batches.journal import BatchJournal
from pytest_llmeval.engine.batches.ports import BatchService, BatchState, Result
from pytest_llmeval.engine.batches.repeating import Repeating
from pytest_llmeval.engine.batches.settings import BatchSettings
from pytest_llmeval.engine.batches.stored_batch import StoredBatch
from pytest_llmeval.errors import ProviderError

_AT_A_TIME: Final = 500
"""Lines of results that are stored in one transaction."""


class Following:
    """Waits for the batches of one model."""

    def __init__(
        self,
        service: BatchService,
        journal: BatchJournal,
        dispatch: Dispatch,
        repeating: Repeating,
        settings: BatchSettings,
    ) -> None:
        """Wait as `settings` say.

        Args:
            service: the provider's batch API.
            journal: where results are stored.
            dispatch: finds batches whose id is not known.
            repeating: how calls are repeated.
            settings: when a batch is asked about and cancelled.
        """
        self._service, self._journal, self._dispatch = service, journal, dispatch
        self._repeating, self._settings = repeating, settings

    async def end_of(self, batch: StoredBatch) -> BatchState | None:
        """Return the last state of a batch, once its results are stored; None if there is none.

        Raises:
            ProviderError: the provider refuses to tell.
        """
        if batch.id:
            return await self._read(batch)
        others: list[str] = []
        while (found := await self._dispatch.found(batch, without=others)) is not None:
            state = await self._read(found)
            if state is None or state.refused or self._has_results(batch):
                return state
            others.append(found.id)  # the batch of another process, with as many requests
        return None

    async def _read(self, batch: StoredBatch) -> BatchState | None:
        try:
            state = await self._ended(batch)
        except ProviderError as error:
            if error.status == HTTPStatus.NOT_FOUND:
                return None
            raise
        if not state.refused:
            await self._repeating.call(lambda: self._store(batch, state))
        return state

    async def _ended(self, batch: StoredBatch) -> BatchState:
        """Return the state of a batch as soon as it has ended; one past its deadline is ended."""
        overdue = False
        while True:
            state = await self._repeating.call(lambda: self._service.state(batch.id))
            if state.ended:
                return replace(state, cancelled=True) if overdue else state
            deadline = self._settings.deadline
            if deadline is not None and not overdue and time.time() - batch.created >= deadline:
                await self._repeating.call(lambda: self._service.cancel(batch.id))
                overdue = True
            await asyncio.sleep(self._settings.poll)

    async def _store(self, batch: StoredBatch, state: BatchState) -> None:
        """Store the results of a batch, those of requests that are not in it left out."""
        keys, lines = set(batch.keys), list[Result]()
        async for result in self._service.results(batch.id, state):
            if result.key in keys:
                lines.append(result)
            if len(lines) >= _AT_A_TIME:
                self._journal.add_results(batch.mark, lines)
                lines.clear()
        self._journal.add_results(batch.mark, lines)

    def _has_results(self, batch: StoredBatch) -> bool:
        return any(self._journal.result(key) is not None for key in batch.keys)

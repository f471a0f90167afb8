"""Making batches at a provider, each once, also if the process or the server dies meanwhile."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection
from dataclasses import replace
from http import HTTPStatus
from typing import Final

from pytest_llmeval.engine.batches.journal import BatchJournal
from pytest_llmeval.engine.batches.part import Part
from pytest_llmeval.engine.batches.ports import BatchService, Sending
from pytest_llmeval.engine.batches.repeating import Repeating
from pytest_llmeval.engine.batches.stored_batch import StoredBatch
from pytest_llmeval.errors import ProviderError

MOST_CREATIONS: Final = 10
"""Attempts at the creation of one batch, after which its requests fail. The waits between them take
three minutes, as long as a server may be away elsewhere."""

FIRST_WAIT: Final = 0.5
"""Seconds before the second attempt; they double."""

LONGEST_WAIT: Final = 60.0
SETTLING: Final = 5.0
"""Seconds after which a batch stands in the provider's list, at most."""


class Dispatch:
    """Makes the batches of one model.

    A batch is written down before it is sent. Where it is not known whether the provider made it,
    the provider's list of batches is asked before another one is made.
    """

    def __init__(
        self,
        service: BatchService,
        journal: BatchJournal,
        repeating: Repeating,
        *,
        model: str,
        endpoint: str,
    ) -> None:
        """Make batches by a service.

        Args:
            service: the provider's batch API.
            journal: where batches are written down.
            repeating: how calls are repeated.
            model: the model's label.
            endpoint: address that the environment gives the provider; "" for its default.
        """
        self._service, self._journal, self._repeating = service, journal, repeating
        self._model, self._endpoint = model, endpoint

    async def send(self, part: Part) -> StoredBatch:
        """Make the batch of a part, and return it; without its id if that did not come back.

        Raises:
            ProviderError: the provider refuses it, or cannot be reached for long.
        """
        sending = part.sending()
        batch = StoredBatch(
            mark=sending.mark,
            model=self._model,
            endpoint=self._endpoint,
            group=sending.group,
            created=sending.created,
            keys=tuple(part.keys),
        )
        self._journal.begin(batch)
        if found := await self._created(sending, part):
            self._journal.sent(batch.mark, found)
        return replace(batch, id=found)

    async def found(
        self, batch: StoredBatch, *, without: Collection[str] = ()
    ) -> StoredBatch | None:
        """Return a batch with the id that the provider's list has for it; None without any.

        Where the API takes no mark this may be another one, which its results tell.

        Args:
            batch: a batch that was written down, and perhaps made.
            without: ids that are those of other batches.
        """
        sending = Sending(
            mark=batch.mark,
            group=batch.group,
            created=batch.created,
            requests=len(batch.keys),
        )
        # A batch that was made just now may not stand in the list yet.
        settling = min(SETTLING, self._repeating.pause)
        await asyncio.sleep(max(0.0, min(settling, batch.created + settling - time.time())))
        ids = await self._listed(sending, without)
        return replace(batch, id=ids[0]) if ids else None

    async def _created(self, sending: Sending, part: Part) -> str:
        """Return the id of a new batch; "" if it was made, or perhaps was, and its id is lost."""
        for failures in range(MOST_CREATIONS):
            try:
                return await self._service.create(sending, part.opened())
            except ProviderError as error:
                last = error
            if last.reach != "attempt":
                self._journal.drop(sending.mark)
                break
            # Refused, or never reached: then there is nothing to look for.
            unsure = last.status != HTTPStatus.TOO_MANY_REQUESTS and last.cause != "unreachable"
            wait = max(min(LONGEST_WAIT, FIRST_WAIT * 2.0**failures), last.retry_after or 0.0)
            settling = min(SETTLING, self._repeating.pause) if unsure else 0.0
            await asyncio.sleep(max(wait, settling))
            if unsure and await self._listed(sending, ()):
                return ""
        problem = f"{last} (no batch could be made)"
        raise ProviderError(problem, reach="model", status=last.status, cause=last.cause)

    async def _listed(self, sending: Sending, without: Collection[str]) -> list[str]:
        known = {batch.id for batch in self._journal.batches()} | set(without)
        ids = await self._repeating.call(lambda: self._service.find(sending))
        return [one for one in ids if one not in known]

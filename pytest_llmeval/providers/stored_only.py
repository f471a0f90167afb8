"""The provider of a run that sends nothing (``--llmeval-reuse PLACE,only=on``)."""

from __future__ import annotations

from pytest_llmeval.errors import ProviderError
from pytest_llmeval.records import Reply, Request


class StoredOnly:
    """Refuses each request: stored replies are found before a provider is asked."""

    def __init__(self, place: str) -> None:
        """Take the place of the stored replies, for messages."""
        self._place = place

    async def send(self, request: Request) -> Reply:
        """Raise ProviderError."""
        msg = (
            f"{self._place} has no reply to this request (key {request.key[:12]}): it was not "
            "asked there or failed, its prompt or parameters have changed since, or its recording "
            "lay elsewhere"
        )
        raise ProviderError(msg, cause="replay")

    async def close(self) -> None:
        """Do nothing: no connection is open."""

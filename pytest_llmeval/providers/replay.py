"""The provider ``replay``: answers from a recording."""

from __future__ import annotations

from pathlib import Path

from pytest_llmeval.engine.ports import Provider, ProviderSetup
from pytest_llmeval.engine.replies.recording import Recording
from pytest_llmeval.errors import ProviderError
from pytest_llmeval.providers.replay_misses import MissReport
from pytest_llmeval.records import Reply, Request


class ReplayProvider:
    """Answers from a recording; a request that it does not hold is an error."""

    def __init__(self, file: Path) -> None:
        """Read the recording; UsageError when it cannot be used (see `Recording`)."""
        self._recording = Recording(file)
        lines = (one for of_roles in self._recording.lines.values() for one in of_roles.values())
        self._misses = MissReport(file, tuple(lines))

    async def send(self, request: Request) -> Reply:
        """Return the recorded reply.

        Raises:
            ProviderError: there is none; the message shows the nearest recorded request.
        """
        line = self._recording.find(request)
        if line is None:
            raise ProviderError(self._misses.problem(request), cause="replay")
        return line.reply

    async def close(self) -> None:
        """Do nothing: no file is open."""


def open_replay(setup: ProviderSetup) -> Provider:
    """Return the provider of ``replay/FILE``; UsageError if the file is not a recording."""
    return ReplayProvider(setup.folder / setup.model)

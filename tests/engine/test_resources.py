"""Objects that the samples of a run share are all closed at its end."""

from __future__ import annotations

import asyncio

import pytest

from pytest_llmeval.engine.resources import Resources


class Server:
    """Counts as closed even if its close fails."""

    def __init__(self, failure: Exception | None = None) -> None:
        """Take what its close raises."""
        self.closed, self._failure = False, failure

    async def close(self) -> None:
        self.closed = True
        if self._failure is not None:
            raise self._failure


@pytest.mark.parametrize("broken", range(3))
def test_one_that_fails_to_close_leaves_no_other_open(broken: int) -> None:
    servers = [Server(OSError("gone") if n == broken else None) for n in range(3)]

    async def run() -> None:
        resources = Resources()
        for number, server in enumerate(servers):

            async def start(server: Server = server) -> Server:
                return server

            assert await resources.get(str(number), start) is server
        await resources.close()

    with pytest.raises(OSError, match="gone"):
        asyncio.run(run())
    assert all(server.closed for server in servers)

"""A worker of Ray is let in once, and only while it is expected."""

from __future__ import annotations

import asyncio

import pytest

from pytest_llmeval.workers.connection import as_supervisor
from pytest_llmeval.workers.frames import Kind
from pytest_llmeval.workers.proof import Credentials, ProofError

pytest.importorskip("ray", reason="Ray is the extra `scale`")


def test_a_secret_that_has_served_serves_no_second_connection() -> None:
    from pytest_llmeval.workers.ray_placement import RayPlacement  # noqa: PLC0415 - an extra

    async def check() -> None:
        placement = RayPlacement("auto", working_dir=None, silence=30.0)
        mine, never = Credentials.new(), Credentials.new()
        connected = asyncio.get_running_loop().create_future()
        placement._expected[mine.identity] = mine, connected
        server = await asyncio.start_server(placement._called, "127.0.0.1", 0)
        address = server.sockets[0].getsockname()[:2]
        first = await as_supervisor(*await asyncio.open_connection(*address), mine, silence=30.0)
        theirs = await connected
        for credentials in (mine, never):
            reader, writer = await asyncio.open_connection(*address)
            with pytest.raises(ProofError, match="ended during the authentication"):
                await as_supervisor(reader, writer, credentials, silence=30.0)
            writer.close()
        await first.send(Kind.DATA, b"still here")
        assert (await anext(theirs.frames())).payload == b"still here"
        first.close()
        theirs.close()
        server.close()
        await asyncio.sleep(0.05)

    asyncio.run(check())

"""Broker and supervisor find each other over a real socket; no other peer gets anywhere."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest

from pytest_llmeval.workers import connection
from pytest_llmeval.workers.connection import Connection, PeerLostError, as_broker, as_supervisor
from pytest_llmeval.workers.frames import Frame, Kind
from pytest_llmeval.workers.proof import OPENING, Credentials, ProofError, new_nonce, opening

MINE = Credentials.new()
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Doors:
    """A server that expects one worker, and notes whom it let in and whom it turned away."""

    def __init__(self, silence: float = 30.0) -> None:
        """Take the silence after which a peer is lost."""
        self.silence = silence
        self.let_in: asyncio.Queue[Connection] = asyncio.Queue()
        self.turned_away: asyncio.Queue[str] = asyncio.Queue()
        self.port = 0

    async def called(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        expected = {MINE.identity: MINE}
        try:
            _, found = await as_broker(reader, writer, expected.get, silence=self.silence)
        except ProofError as error:
            writer.transport.abort()
            await self.turned_away.put(str(error))
        else:
            await self.let_in.put(found)


@asynccontextmanager
async def doors(silence: float = 30.0) -> AsyncIterator[Doors]:
    made = Doors(silence)
    server = await asyncio.start_server(made.called, "127.0.0.1", 0)
    made.port = server.sockets[0].getsockname()[1]
    try:
        yield made
    finally:
        server.close()
        await server.wait_closed()


async def call(port: int) -> Streams:
    return await asyncio.open_connection("127.0.0.1", port)


def run(check: Coroutine[Any, Any, None]) -> None:
    """Run a test, and let the transports that it has closed end."""

    async def ended() -> None:
        await check
        await asyncio.sleep(0.05)

    asyncio.run(ended())


async def both(made: Doors) -> tuple[Connection, Connection]:
    ours = await as_supervisor(*await call(made.port), MINE, silence=made.silence)
    return ours, await made.let_in.get()


async def first_frame(peer: Connection) -> Frame:
    return await anext(peer.frames())


async def silent(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write_eof()


async def stray(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n" + b" " * OPENING)


async def of_no_worker(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(opening(Credentials.new(), new_nonce()))


async def without_the_secret(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(opening(MINE, new_nonce()))
    await reader.readexactly(64)
    writer.write(b"\0" * 32)


async def that_sends_the_brokers_proof_back(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    writer.write(opening(MINE, new_nonce()))
    writer.write((await reader.readexactly(64))[32:])


@pytest.mark.parametrize(
    "impostor",
    [silent, stray, of_no_worker, without_the_secret, that_sends_the_brokers_proof_back],
)
def test_a_peer_without_the_secret_is_cut_off_and_the_worker_is_still_let_in(
    impostor: Callable[..., Coroutine[Any, Any, None]],
) -> None:
    async def check() -> None:
        async with doors() as made:
            reader, writer = await call(made.port)
            await impostor(reader, writer)
            await made.turned_away.get()
            with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
                await reader.readexactly(1000)
            writer.close()
            assert made.let_in.empty()
            ours, theirs = await both(made)
            await ours.send(Kind.DATA, b"here")
            assert (await anext(theirs.frames())).payload == b"here"
            ours.close()
            theirs.close()

    run(check())


def test_a_recorded_authentication_opens_no_door_again() -> None:
    async def check() -> None:
        async with doors() as made:
            recorded = bytearray()

            async def record(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                onwards_reader, onwards_writer = await call(made.port)

                async def copy() -> None:
                    while piece := await onwards_reader.read(1000):
                        writer.write(piece)

                copying = asyncio.create_task(copy())
                while piece := await reader.read(1000):
                    recorded.extend(piece)
                    onwards_writer.write(piece)
                copying.cancel()
                writer.close()
                onwards_writer.close()

            between = await asyncio.start_server(record, "127.0.0.1", 0)
            port = between.sockets[0].getsockname()[1]
            ours = await as_supervisor(*await call(port), MINE, silence=30.0)
            theirs = await made.let_in.get()
            await ours.send(Kind.DATA, b"paid")
            assert (await anext(theirs.frames())).payload == b"paid"
            _, writer = await call(made.port)
            writer.write(bytes(recorded))
            assert "secret" in await made.turned_away.get()
            writer.close()
            ours.close()
            theirs.close()
            between.close()

    run(check())


def test_a_supervisor_serves_no_broker_that_does_not_know_the_secret() -> None:
    async def check() -> None:
        async def pretend(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readexactly(OPENING)
            writer.write(bytes(64))
            await reader.read()
            writer.close()

        server = await asyncio.start_server(pretend, "127.0.0.1", 0)
        streams = await call(server.sockets[0].getsockname()[1])
        with pytest.raises(ProofError, match="secret"):
            await as_supervisor(*streams, MINE, silence=30.0)
        streams[1].close()
        server.close()

    run(check())


def test_a_peer_that_says_nothing_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "AUTHENTICATION", 0.05)

    async def check() -> None:
        async with doors() as made:
            _, writer = await call(made.port)
            assert "no authentication within" in await made.turned_away.get()
            writer.close()

    run(check())


def test_a_peer_that_beats_is_kept_and_one_that_stops_is_lost() -> None:
    async def check() -> None:
        async with doors(silence=0.5) as made:
            ours, theirs = await both(made)
            beating = asyncio.create_task(ours.beat())
            waiting = asyncio.create_task(first_frame(theirs))
            await asyncio.sleep(1.5)
            assert not waiting.done()
            beating.cancel()
            with pytest.raises(PeerLostError, match=r"silent for 0\.5 s"):
                await waiting
            ours.close()
            theirs.close()

    run(check())


def test_no_sign_of_life_is_sent_for_a_worker_that_is_stopped() -> None:
    async def check() -> None:
        async with doors(silence=0.3) as made:
            ours, theirs = await both(made)
            beating = asyncio.create_task(ours.beat(lambda: False))
            with pytest.raises(PeerLostError, match="silent"):
                await anext(theirs.frames())
            beating.cancel()
            ours.close()
            theirs.close()

    run(check())


def test_a_network_that_stops_forwarding_is_noticed_on_both_sides() -> None:
    async def check() -> None:
        async with doors(silence=0.6) as made:
            forwarding = asyncio.Event()
            forwarding.set()

            async def forward(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
                while piece := await source.read(1000):
                    # From the cut on, bytes are taken and go nowhere; no connection ends.
                    if forwarding.is_set():
                        sink.write(piece)

            async def between(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                onwards_reader, onwards_writer = await call(made.port)
                await asyncio.gather(
                    forward(reader, onwards_writer), forward(onwards_reader, writer)
                )
                writer.close()
                onwards_writer.close()

            network = await asyncio.start_server(between, "127.0.0.1", 0)
            port = network.sockets[0].getsockname()[1]
            ours = await as_supervisor(*await call(port), MINE, silence=0.6)
            theirs = await made.let_in.get()
            ends = [ours, theirs]
            beating = [asyncio.create_task(end.beat()) for end in ends]
            waiting = [asyncio.create_task(first_frame(end)) for end in ends]
            await asyncio.sleep(1.5)
            assert not any(one.done() for one in waiting)
            forwarding.clear()
            for one in waiting:
                with pytest.raises(PeerLostError, match="silent"):
                    await one
            for task in beating:
                task.cancel()
            for end in ends:
                end.close()
            network.close()
            await asyncio.sleep(0.1)

    run(check())

"""An authenticated connection between broker and supervisor, over any pair of streams."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

from pytest_llmeval.workers.frames import Frame, FrameError, Kind, Opener, Sealer
from pytest_llmeval.workers.proof import (
    NONCE,
    OPENING,
    PROOF,
    Credentials,
    Nonces,
    ProofError,
    broker_proof,
    check_proof,
    frame_keys,
    new_nonce,
    opening,
    read_opening,
    supervisor_proof,
)

PIECE: Final = 1 << 16
"""Bytes that are read, and sent in one frame, at most."""

BEATS: Final = 4
"""Signs of life within the silence after which a peer is lost."""

AUTHENTICATION: Final = 10.0
"""Seconds that the authentication may take."""


class PeerLostError(Exception):
    """The connection cannot be used any more; the message says why."""


class Connection:
    """Frames over two streams, with signs of life."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        *,
        sealer: Sealer,
        opener: Opener,
        silence: float,
    ) -> None:
        """Use authenticated streams; see `as_supervisor` and `as_broker`."""
        self._reader, self._writer = reader, writer
        self._sealer, self._opener = sealer, opener
        self._silence = silence

    async def send(self, kind: Kind, payload: bytes = b"") -> None:
        """Send one frame; wait while the peer does not read.

        Raises:
            PeerLostError: the connection is closed.
        """
        # Sealed and written without an await between: the order of the codes is that of the bytes.
        try:
            self._writer.write(self._sealer.seal(kind, payload))
            await self._writer.drain()
        except OSError as error:
            msg = f"the connection broke ({error})"
            raise PeerLostError(msg) from None

    async def frames(self) -> AsyncIterator[Frame]:
        """Yield the frames of the peer, without signs of life.

        Raises:
            PeerLostError: the peer closed the connection, was silent for too long, or sent a frame
                with another code than expected.
        """
        while True:
            try:
                async with asyncio.timeout(self._silence):
                    piece = await self._reader.read(PIECE)
            except TimeoutError:
                msg = f"silent for {self._silence:g} s"
                raise PeerLostError(msg) from None
            except OSError as error:
                msg = f"the connection broke ({error})"
                raise PeerLostError(msg) from None
            if not piece:
                msg = "the connection ended"
                raise PeerLostError(msg)
            try:
                for frame in self._opener.feed(piece):
                    if frame.kind is not Kind.BEAT:
                        yield frame
            except FrameError as error:
                raise PeerLostError(str(error)) from None

    async def beat(self, alive: Callable[[], bool] = lambda: True) -> None:
        """Send signs of life for ever, while `alive` says so.

        Raises:
            PeerLostError: the connection is closed.
        """
        while True:
            await asyncio.sleep(self._silence / BEATS)
            if alive():
                await self.send(Kind.BEAT)

    def close(self) -> None:
        """Close the connection at once; what was not sent yet is lost."""
        # Of a pipe, asyncio cannot abort a transport a second time.
        if not self._writer.is_closing():
            self._writer.transport.abort()


async def as_supervisor(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    credentials: Credentials,
    *,
    silence: float,
) -> Connection:
    """Return the supervisor's end of a connection, after the authentication of both sides.

    Raises:
        ProofError: the peer is not the broker.
    """
    ours = new_nonce()
    async with _authenticating():
        writer.write(opening(credentials, ours))
        nonces = Nonces(supervisor=ours, broker=await reader.readexactly(NONCE))
        check_proof(await reader.readexactly(PROOF), broker_proof(credentials, nonces))
        writer.write(supervisor_proof(credentials, nonces))
        await writer.drain()
    keys = frame_keys(credentials, nonces)
    sealer, opener = Sealer(keys.to_broker), Opener(keys.to_supervisor)
    return Connection(reader, writer, sealer=sealer, opener=opener, silence=silence)


async def as_broker(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    find: Callable[[bytes], Credentials | None],
    *,
    silence: float,
) -> tuple[Credentials, Connection]:
    """Return whose worker a connection is, and the broker's end of it, after the authentication.

    Args:
        reader: what the peer sends.
        writer: what it gets.
        find: returns the credentials of an identity; None if no worker with it is expected.
        silence: see `spec.WorkersSpec`.

    Raises:
        ProofError: the peer is no supervisor that is expected.
    """
    async with _authenticating():
        identity, theirs = read_opening(await reader.readexactly(OPENING))
        if (credentials := find(identity)) is None:
            msg = "no such worker is expected"
            raise ProofError(msg)
        nonces = Nonces(supervisor=theirs, broker=new_nonce())
        writer.write(nonces.broker + broker_proof(credentials, nonces))
        await writer.drain()
        check_proof(await reader.readexactly(PROOF), supervisor_proof(credentials, nonces))
    keys = frame_keys(credentials, nonces)
    sealer, opener = Sealer(keys.to_supervisor), Opener(keys.to_broker)
    return credentials, Connection(reader, writer, sealer=sealer, opener=opener, silence=silence)


@asynccontextmanager
async def _authenticating() -> AsyncIterator[None]:
    """Make every way in which an authentication ends early a ProofError."""
    try:
        async with asyncio.timeout(AUTHENTICATION):
            yield
    except TimeoutError:
        msg = f"no authentication within {AUTHENTICATION:g} s"
        raise ProofError(msg) from None
    except (OSError, asyncio.IncompleteReadError) as error:
        msg = f"the connection ended during the authentication ({error})"
        raise ProofError(msg) from None

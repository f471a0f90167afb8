"""Frames between broker and supervisor: bytes with an authentication code and a counter.

::

    length of the payload (4 bytes, big-endian) | kind (1) | payload | code (32)

The code is HMAC-SHA256 over a counter of 8 bytes, which is not sent, and all before it. Each side
counts the frames it sent and got, so a frame that is changed, repeated, left out or moved does not
have the expected code. The direction's key differs (`proof.frame_keys`), so a frame that is sent
back is refused too.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterator
from enum import IntEnum
from struct import Struct
from typing import Final, NamedTuple

MAX_PAYLOAD: Final = 1 << 20
"""Bytes of a payload at most: what one frame may make the other side keep in memory."""

_HEAD = Struct("!IB")
_COUNTER = Struct("!Q")
_CODE = 32


class FrameError(Exception):
    """A frame that the peer cannot have sent in this place."""


class Kind(IntEnum):
    """The kinds of frames."""

    BEAT = 0
    """A sign of life."""
    DATA = 1
    """Bytes of execnet."""
    END = 2
    """To the supervisor: the worker gets no more bytes."""
    SETUP = 3
    """To the supervisor: what the worker is started with (`setup.Setup`)."""
    HELLO = 4
    """To the broker: who the worker is (`setup.Hello`)."""
    REFUSED = 5
    """To the broker: why the worker cannot be started, in UTF-8."""
    EXIT = 6
    """To the broker: how the worker ended (`setup.Exit`)."""


class Frame(NamedTuple):
    """One frame."""

    kind: Kind
    payload: bytes


class Sealer:
    """Makes the frames of one direction."""

    def __init__(self, key: bytes) -> None:
        """Use a key of `proof.frame_keys`."""
        self._key, self._count = key, 0

    def seal(self, kind: Kind, payload: bytes = b"") -> bytes:
        """Return the bytes of the next frame."""
        if len(payload) > MAX_PAYLOAD:
            msg = f"a payload of {len(payload)} bytes; {MAX_PAYLOAD} at most"
            raise ValueError(msg)
        framed = _HEAD.pack(len(payload), kind) + payload
        code = _code(self._key, self._count, framed)
        self._count += 1
        return framed + code


class Opener:
    """Reads the frames of one direction, from pieces of any length."""

    def __init__(self, key: bytes) -> None:
        """Use a key of `proof.frame_keys`."""
        self._key, self._count = key, 0
        self._rest = bytearray()

    def feed(self, piece: bytes) -> Iterator[Frame]:
        """Yield the frames that are whole now.

        Raises:
            FrameError: a frame is not the one that was sent; nothing of it, or after it, counts.
        """
        self._rest += piece
        while len(self._rest) >= _HEAD.size:
            length, kind = _HEAD.unpack_from(self._rest)
            if length > MAX_PAYLOAD:
                msg = f"a frame of {length} bytes; {MAX_PAYLOAD} at most"
                raise FrameError(msg)
            end = _HEAD.size + length
            if len(self._rest) < end + _CODE:
                return
            framed, code = bytes(self._rest[:end]), bytes(self._rest[end : end + _CODE])
            if not hmac.compare_digest(code, _code(self._key, self._count, framed)):
                msg = "a frame was changed, repeated or left out on its way"
                raise FrameError(msg)
            self._count += 1
            del self._rest[: end + _CODE]
            yield Frame(Kind(kind), framed[_HEAD.size :])


def _code(key: bytes, count: int, framed: bytes) -> bytes:
    return hmac.digest(key, _COUNTER.pack(count) + framed, "sha256")

"""Mutual authentication of broker and supervisor by a secret that both got beforehand.

The supervisor is told its worker's identity and secret by Ray's own channel, or through the pipe of
the command that started it. Over the connection, on which anybody may speak, goes::

    supervisor -> broker   MAGIC, identity (16 bytes), nonce (32)
    broker -> supervisor   nonce (32), proof of the broker (32)
    supervisor -> broker   proof of the supervisor (32)

A proof is HMAC-SHA256 by the secret over a label of the side, the identity and both nonces. The
labels differ, so a proof that is sent back proves nothing; the nonces are new for each connection,
so one that was recorded proves nothing either. The keys of the frames (`frames`) are derived in the
same way. All functions are pure.
"""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass
from typing import Final

MAGIC: Final = b"llmeval1"
IDENTITY: Final = 16
NONCE: Final = 32
PROOF: Final = 32
OPENING: Final = len(MAGIC) + IDENTITY + NONCE
"""Bytes of the first message."""


class ProofError(Exception):
    """The peer is not who it should be, or speaks another protocol."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """What proves that a supervisor is the one that was started for a worker; used once.

    Attributes:
        identity: names the worker; not secret.
        secret: 32 random bytes.
    """

    identity: bytes
    secret: bytes

    @classmethod
    def new(cls) -> Credentials:
        """Return new random ones."""
        return cls(secrets.token_bytes(IDENTITY), secrets.token_bytes(32))


@dataclass(frozen=True, slots=True)
class Nonces:
    """The random numbers of one connection, 32 bytes each."""

    supervisor: bytes
    broker: bytes


@dataclass(frozen=True, slots=True)
class FrameKeys:
    """The keys of the authentication codes, by the direction of the frames."""

    to_supervisor: bytes
    to_broker: bytes


def new_nonce() -> bytes:
    """Return a random number for one connection."""
    return secrets.token_bytes(NONCE)


def opening(credentials: Credentials, nonce: bytes) -> bytes:
    """Return the first message, of the supervisor."""
    return MAGIC + credentials.identity + nonce


def read_opening(message: bytes) -> tuple[bytes, bytes]:
    """Return identity and nonce of the first message; ProofError if it is another."""
    if len(message) != OPENING or not message.startswith(MAGIC):
        msg = "the connection does not begin like a worker's"
        raise ProofError(msg)
    start = len(MAGIC)
    return message[start : start + IDENTITY], message[start + IDENTITY :]


def broker_proof(credentials: Credentials, nonces: Nonces) -> bytes:
    """Return the proof of the broker."""
    return _code(credentials, nonces, b"proof of the broker")


def supervisor_proof(credentials: Credentials, nonces: Nonces) -> bytes:
    """Return the proof of the supervisor."""
    return _code(credentials, nonces, b"proof of the supervisor")


def check_proof(given: bytes, expected: bytes) -> None:
    """Raise ProofError if a proof is not the expected one; takes the same time for any."""
    if not hmac.compare_digest(given, expected):
        msg = "the peer does not know the worker's secret"
        raise ProofError(msg)


def frame_keys(credentials: Credentials, nonces: Nonces) -> FrameKeys:
    """Return the keys of a connection's frames."""
    return FrameKeys(
        to_supervisor=_code(credentials, nonces, b"frames to the supervisor"),
        to_broker=_code(credentials, nonces, b"frames to the broker"),
    )


def _code(credentials: Credentials, nonces: Nonces, label: bytes) -> bytes:
    # Label and parts have fixed lengths or stand last, so no two texts run into the same bytes.
    parts = credentials.identity + nonces.supervisor + nonces.broker + label
    return hmac.digest(credentials.secret, parts, "sha256")

"""Only who got the secret of this worker, and speaks on this connection, is believed."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmeval.workers.proof import (
    MAGIC,
    OPENING,
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

NONCE = st.binary(min_size=32, max_size=32)
CREDENTIALS = st.builds(Credentials, st.binary(min_size=16, max_size=16), NONCE)
NONCES = st.builds(Nonces, NONCE, NONCE)


@given(CREDENTIALS, NONCES)
def test_both_sides_come_to_the_same_proofs_and_to_four_different_codes(
    credentials: Credentials, nonces: Nonces
) -> None:
    again = Credentials(credentials.identity, credentials.secret)
    check_proof(broker_proof(again, nonces), broker_proof(credentials, nonces))
    check_proof(supervisor_proof(again, nonces), supervisor_proof(credentials, nonces))
    codes = {
        broker_proof(credentials, nonces),
        supervisor_proof(credentials, nonces),
        *dataclasses.astuple(frame_keys(credentials, nonces)),
    }
    # A proof that is sent back, or used as a key, is none.
    assert len(codes) == 4


@given(CREDENTIALS, CREDENTIALS, NONCES, NONCES)
def test_another_worker_another_secret_or_another_connection_proves_nothing(
    mine: Credentials, other: Credentials, nonces: Nonces, later: Nonces
) -> None:
    wrong = [
        (dataclasses.replace(mine, secret=other.secret), nonces),
        (dataclasses.replace(mine, identity=other.identity), nonces),
        (mine, dataclasses.replace(nonces, broker=later.broker)),
        (mine, dataclasses.replace(nonces, supervisor=later.supervisor)),
    ]
    for credentials, on in wrong:
        if (credentials, on) == (mine, nonces):
            continue
        for proof in (broker_proof, supervisor_proof):
            with pytest.raises(ProofError):
                check_proof(proof(credentials, on), proof(mine, nonces))


@given(CREDENTIALS, NONCE)
def test_the_first_message_says_who_it_is_and_not_the_secret(
    credentials: Credentials, nonce: bytes
) -> None:
    message = opening(credentials, nonce)
    assert read_opening(message) == (credentials.identity, nonce)
    assert credentials.secret not in message or credentials.secret == nonce


@given(st.binary(max_size=2 * OPENING))
def test_any_other_first_message_is_refused(message: bytes) -> None:
    if len(message) == OPENING and message.startswith(MAGIC):
        return
    with pytest.raises(ProofError):
        read_opening(message)


def test_secrets_identities_and_nonces_are_new_each_time() -> None:
    made = [Credentials.new() for _ in range(100)]
    assert len({one.secret for one in made}) == len({one.identity for one in made}) == 100
    assert len({new_nonce() for _ in range(100)}) == 100

"""The soak's check finds each way of breaking a promise, and nothing where none is broken."""

from __future__ import annotations

import random
from collections.abc import Iterable

import pytest
from soak_check import LATER, Books
from soak_ledger import Entry, Kind

CONNECTIONS = 3


def entry(kind: Kind, prompt: str, connection: str = "c") -> Entry:
    return Entry(kind=kind, prompt=prompt, sample=prompt, connection=connection)


def answered(prompts: Iterable[str], connection: str = "c") -> list[Entry]:
    """Return the entries of requests that were answered one after the other."""
    kinds: tuple[Kind, ...] = ("asked", "paid")
    return [entry(kind, prompt, connection) for prompt in prompts for kind in kinds]


def breaches_of(entries: list[Entry], stored: set[str], faults: Iterable[str] = ()) -> list[str]:
    books = Books(in_flight=CONNECTIONS)
    books.add(entries, stored, faults=[*faults])
    return books.breaches


@pytest.mark.parametrize("seed", range(20))
def test_a_session_that_is_cut_anywhere_breaks_nothing_if_it_stored_what_it_had_received(
    seed: int,
) -> None:
    draw = random.Random(seed)
    entries = [
        one
        for number in range(CONNECTIONS)
        for one in answered((f"{number}-{n}" for n in range(10)), connection=str(number))
    ]
    del entries[draw.randrange(len(entries)) :]
    # The last reply of each connection was under way, or was not.
    last = {one.connection: one.prompt for one in entries if one.kind == "paid"}
    unread = {prompt for prompt in last.values() if draw.random() < 0.5}
    paid = {one.prompt for one in entries if one.kind == "paid"}
    assert breaches_of(entries, paid - unread, faults=["kill"]) == []
    # Without an end that cuts replies, each of them is one too many.
    assert bool(breaches_of(entries, paid - unread)) == bool(unread)


@pytest.mark.parametrize("fault", ["kill", "interrupt", "disk", "server"])
def test_a_reply_that_was_received_and_is_not_stored_is_found(fault: str) -> None:
    prompts = [str(n) for n in range(LATER + 1)]
    [found] = breaches_of(answered(prompts), {*prompts} - {"0"}, faults=[fault])
    assert found == "0: its reply was received and is not stored"


def test_more_cut_replies_than_were_in_flight_are_found() -> None:
    entries = [one for n in range(CONNECTIONS + 1) for one in answered([str(n)], connection=str(n))]
    assert breaches_of(entries, {"0"}, faults=["kill"]) == []
    [found] = breaches_of(entries, set(), faults=["kill"])
    assert found.startswith("4 paid replies were not stored or paid again, at most 3 may")


def test_a_stored_reply_that_is_asked_for_again_is_found_whatever_meets_the_session() -> None:
    books = Books(in_flight=CONNECTIONS)
    books.add(answered(["0"]), {"0"}, faults=["kill"])
    books.add([entry("asked", "0")], {"0"}, faults=["kill"])
    assert books.breaches == ["0: asked again although its reply is stored"]


def test_a_request_that_a_session_pays_twice_is_found() -> None:
    [found] = breaches_of(answered(["0", "0"]), {"0"})
    assert found.startswith("1 paid replies were not stored or paid again, at most 0 may")


def test_a_stored_reply_that_vanishes_is_found() -> None:
    books = Books(in_flight=CONNECTIONS)
    books.add(answered(["0"]), {"0"}, faults=[])
    books.add([], set(), faults=["kill"])
    assert books.breaches == ["prompt 0: its reply was stored and is not any more"]

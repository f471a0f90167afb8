"""The turns of tests and engine: one of them computes at a time, and nobody waits for long."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from pytest_llmeval.engine.turns import Turns, TurnSelector

PATIENT = 60.0
"""Seconds that no wait of a passing test takes."""


@contextmanager
def running(turns: Turns) -> Iterator[asyncio.AbstractEventLoop]:
    """Run an event loop that takes turns in a thread of its own."""
    loop = asyncio.SelectorEventLoop(TurnSelector(turns))

    def serve() -> None:
        loop.run_forever()
        turns.end()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield loop
    finally:
        with turns.aside():
            loop.call_soon_threadsafe(loop.stop)
            thread.join(PATIENT)
        loop.close()
    assert not thread.is_alive()


def test_the_engine_works_only_while_the_tests_thread_stands_still() -> None:
    turns = Turns(slice_=0.0, patience=PATIENT, longest=PATIENT)
    computing = threading.Event()
    seen: list[bool] = []
    with running(turns) as loop:
        turns.give()
        for _ in range(200):
            computing.set()
            loop.call_soon_threadsafe(lambda: seen.append(computing.is_set()))
            time.sleep(0.0005)  # in which the engine could work, as at a system call
            computing.clear()
            turns.give()
        with turns.aside():
            loop.call_soon_threadsafe(lambda: None)
    assert len(seen) == 200
    assert not any(seen)


def test_while_the_tests_thread_waits_the_engine_works_at_once() -> None:
    turns = Turns(patience=PATIENT, longest=PATIENT)
    with running(turns) as loop:
        turns.give()
        answer = asyncio.run_coroutine_threadsafe(asyncio.sleep(0.01, "answer"), loop)
        with turns.aside():
            assert answer.result(PATIENT) == "answer"


def test_the_engine_does_not_wait_for_a_test_that_computes_for_long() -> None:
    turns = Turns(patience=0.01)
    with running(turns) as loop:
        turns.give()
        # Several waits of the loop: the first alone is for a turn.
        answer = asyncio.run_coroutine_threadsafe(_naps(50), loop)
        start = time.monotonic()
        while not answer.done() and time.monotonic() - start < PATIENT:
            sum(range(1000))
        assert answer.result(0) == 50


async def _naps(count: int) -> int:
    for _ in range(count):
        await asyncio.sleep(0.0001)
    return count


def test_the_tests_thread_does_not_wait_for_an_engine_that_hangs() -> None:
    turns = Turns(slice_=0.0, longest=0.05)
    hangs, end = threading.Event(), threading.Event()

    def hang() -> None:
        hangs.set()
        end.wait(PATIENT)

    with running(turns) as loop:
        try:
            loop.call_soon_threadsafe(hang)
            assert hangs.wait(PATIENT)
            start = time.monotonic()
            turns.give()
            assert 0.05 <= time.monotonic() - start < PATIENT / 2
        finally:
            end.set()


def test_an_engine_without_work_costs_no_wait() -> None:
    turns = Turns(slice_=0.0, longest=PATIENT)
    with running(turns):
        start = time.monotonic()
        for _ in range(100):
            turns.give()
        assert time.monotonic() - start < PATIENT / 2


def test_an_exception_in_the_waiting_thread_leaves_the_turns_as_they_were() -> None:
    turns = Turns(longest=PATIENT)
    with running(turns) as loop:
        with pytest.raises(TimeoutError), turns.aside():
            raise TimeoutError
        with turns.aside():
            assert asyncio.run_coroutine_threadsafe(_naps(3), loop).result(PATIENT) == 3

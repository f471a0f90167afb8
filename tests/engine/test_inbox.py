"""Calls of other threads: all are made, in order, and many wake the loop once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from pytest_llmeval.engine.inbox import Inbox


class CountingLoop(asyncio.SelectorEventLoop):
    """Counts how often other threads woke it, and keeps what was reported to it."""

    def __init__(self) -> None:
        """Begin with nothing."""
        super().__init__()
        self.wakes = 0
        self.reported: list[str] = []
        self.set_exception_handler(
            lambda _, context: self.reported.append(str(context["exception"]))
        )

    def call_soon_threadsafe(self, *args: Any, **more: Any) -> asyncio.Handle:  # type: ignore[override]  # any arguments
        self.wakes += 1
        return super().call_soon_threadsafe(*args, **more)

    def turn(self) -> None:
        """Run what is ready."""
        self.call_soon(self.stop)
        self.run_forever()


@pytest.fixture
def loop() -> Iterator[CountingLoop]:
    """Make a loop, and close it at the end."""
    made = CountingLoop()
    yield made
    made.close()


def test_many_calls_wake_the_loop_once_and_are_made_in_order(loop: CountingLoop) -> None:
    inbox, made = Inbox(loop), list[int]()
    for number in range(50):
        inbox.post(partial(made.append, number))
    loop.turn()
    assert made == list(range(50))
    assert loop.wakes == 1
    inbox.post(partial(made.append, 50))
    loop.turn()
    assert made[-1] == 50
    assert loop.wakes == 2


def test_a_call_that_posts_another_one_loses_none(loop: CountingLoop) -> None:
    inbox, made = Inbox(loop), list[str]()

    def first() -> None:
        inbox.post(lambda: made.append("second"))
        made.append("first")

    inbox.post(first)
    loop.turn()
    loop.turn()
    assert made == ["first", "second"]


def test_a_call_that_fails_is_reported_and_the_next_ones_are_made(loop: CountingLoop) -> None:
    inbox, made = Inbox(loop), list[str]()

    def fail(text: str) -> None:
        raise ValueError(text)

    for call in (partial(fail, "a"), partial(made.append, "b"), partial(fail, "c")):
        inbox.post(call)
    inbox.post(partial(made.append, "d"))
    for _ in range(4):
        loop.turn()
    assert made == ["b", "d"]
    assert loop.reported == ["a", "c"]


def test_no_call_of_many_threads_is_lost_or_overtaken_by_a_later_one_of_its_thread() -> None:
    threads, calls = 8, 2000
    loop = CountingLoop()
    serving = threading.Thread(target=loop.run_forever)
    serving.start()
    inbox, made = Inbox(loop), list[tuple[int, int]]()

    def post(name: int) -> None:
        for number in range(calls):
            inbox.post(partial(made.append, (name, number)))

    posting = [threading.Thread(target=post, args=(name,)) for name in range(threads)]
    for thread in posting:
        thread.start()
    for thread in posting:
        thread.join(60)
    inbox.post(loop.stop)
    serving.join(60)
    assert not serving.is_alive()
    loop.close()
    for name in range(threads):
        assert [n for who, n in made if who == name] == list(range(calls))
    assert loop.wakes <= threads * calls + 1

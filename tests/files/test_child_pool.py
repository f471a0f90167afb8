"""Children answer, die, hang and lie; the pool answers or tells, and the next request is served."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pytest_llmeval.errors import UsageError
from pytest_llmeval.files.child_pool import ChildEndedError, ChildPool

SCRIPT = Path(__file__).with_name("scripted_child.py")
Open = Callable[..., ChildPool]


@pytest.fixture
def pool() -> Iterator[Open]:
    """Return what opens a pool of scripted children, which are ended."""
    pools = []

    def opened(*, processes: int = 1, wall_seconds: float = 60.0, argument: str = "") -> ChildPool:
        found = ChildPool(
            SCRIPT, (argument,), processes=processes, wall_seconds=wall_seconds, max_reply=1 << 20
        )
        pools.append(found)
        return found

    yield opened
    for one in pools:
        one.close()


def test_a_request_has_as_many_replies_as_it_asks_for(pool: Open) -> None:
    assert pool().ask(b"several 3", replies=3) == [b"0", b"1", b"2"]


def test_a_child_stays_for_the_next_request(pool: Open) -> None:
    one = pool()
    assert one.ask(b"sleep 0") == one.ask(b"sleep 0")


@pytest.mark.parametrize("how", [b"die", b"half", b"boast"])
def test_a_child_that_does_not_reply_is_told_and_replaced(pool: Open, how: bytes) -> None:
    one = pool()
    with pytest.raises(ChildEndedError) as ended:
        one.ask(how)
    assert not ended.value.late
    assert one.ask(b"again") == [b"again"]


def test_a_child_that_hangs_is_killed_and_replaced(pool: Open) -> None:
    one = pool(wall_seconds=1.5)
    with pytest.raises(ChildEndedError) as ended:
        one.ask(b"hang")
    assert ended.value.late
    assert one.ask(b"again") == [b"again"]


def test_a_child_that_died_while_idle_costs_the_next_request_nothing(pool: Open) -> None:
    one = pool()
    (number,) = one.ask(b"sleep 0")
    os.kill(int(number), signal.SIGKILL)
    while one._idle[0].running:
        time.sleep(0.01)
    assert one.ask(b"again") == [b"again"]


def test_many_requests_at_a_time_use_no_more_children_than_the_pool_has(pool: Open) -> None:
    one = pool(processes=2)
    with ThreadPoolExecutor(100) as threads:
        numbers = list(threads.map(lambda _: one.ask(b"sleep 0.001"), range(200)))
    assert len({number for (number,) in numbers}) <= 2


def test_a_child_that_does_not_start_is_told_with_its_command(pool: Open) -> None:
    with pytest.raises(UsageError, match=r"did not start; .*scripted_child\.py absent"):
        pool(argument="absent").ask(b"x")


def test_a_closed_pool_starts_again(pool: Open) -> None:
    one = pool()
    (first,) = one.ask(b"sleep 0")
    one.close()
    assert one.ask(b"sleep 0") != [first]

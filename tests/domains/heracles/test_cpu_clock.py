"""Costly, hanging and starved processes are told apart by their CPU time."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from pytest_llmeval.domains.heracles.cpu_clock import CpuClock

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="CPU time is read from /proc")


@contextmanager
def process(code: str) -> Iterator[int]:
    with subprocess.Popen([sys.executable, "-c", code]) as child:
        try:
            yield child.pid
        finally:
            child.kill()


def seconds_used(clock: CpuClock) -> float:
    now, start = clock._read(), clock._start
    assert now is not None
    assert start is not None
    return now - start


def test_whoever_got_a_small_part_of_the_limit_is_starved() -> None:
    with process("while True: pass") as busy:
        clock = CpuClock(busy)
        while (used := seconds_used(clock)) < 0.2:
            time.sleep(0.01)
    assert clock.starved(used * 2) is False
    with process("while True: pass") as busy:
        clock = CpuClock(busy)
        while (used := seconds_used(clock)) < 0.2:
            time.sleep(0.01)
        assert clock.starved(used * 10)
        assert not clock.starved(used)


def test_whoever_wanted_nothing_is_not() -> None:
    with process("import time; time.sleep(60)") as idle:
        clock = CpuClock(idle)
        assert not clock.starved(10)


def test_nothing_is_known_of_a_process_that_has_ended() -> None:
    with process("pass") as ended:
        clock = CpuClock(ended)
    assert not clock.starved(1)

"""The time of a sample stands still while its requests wait for batches."""

from __future__ import annotations

import asyncio

import pytest
from engine.virtual_time import run

from pytest_llmeval.engine.sample_time import SampleTime


async def spend(time: SampleTime, *steps: float | bool) -> float:
    """Wait some seconds in the limit, and hold and release the clock between; return the end."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    try:
        async with time.limit():
            for step in steps:
                if isinstance(step, bool):
                    time.hold(step)
                else:
                    await asyncio.sleep(step)
    except TimeoutError:
        return -(loop.time() - began)
    return loop.time() - began


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ((4.0,), 4),
        ((6.0,), -5),
        ((4.0, True, 9999.0, False, 0.5), 10003.5),
        ((4.0, True, 100.0, False, 2.0), -105),
        ((True, 50.0, True, 50.0, False, 50.0, False, 4.0), 154),
        ((True, 50.0, False, 6.0), -55),
    ],
    ids=str,
)
def test_only_time_without_a_batch_counts(steps: tuple[float | bool, ...], expected: float) -> None:
    async def main() -> float:
        time = SampleTime(5)
        time.start()
        return await spend(time, *steps)

    assert run(main()) == pytest.approx(expected)


def test_a_clock_that_starts_while_a_batch_is_waited_for_stands_until_its_end() -> None:
    async def main() -> float:
        time = SampleTime(5)
        time.hold(True)
        time.start()
        return await spend(time, 100.0, False, 4.0)

    assert run(main()) == pytest.approx(104)


def test_without_a_limit_nothing_is_timed() -> None:
    async def main() -> float:
        time = SampleTime(None)
        time.start()
        return await spend(time, True, 5.0, False, 99999.0)

    assert run(main()) == pytest.approx(100004)

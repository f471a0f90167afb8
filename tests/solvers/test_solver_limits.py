"""Limits of solvers that ask several times: their values, and what counts as a sample's time."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmeval.solvers.limits import Limits, OutOfTimeError, OwnTime

NO_COUNT = [0, -1, "3", True, 1.0]
NO_TIME = [0, -0.5, "3", True, float("nan"), float("inf")]
WRONG = [
    *(("turns", value) for value in NO_COUNT),
    *(("max_calls", value) for value in NO_COUNT),
    *(("max_seconds", value) for value in NO_TIME),
]


@pytest.mark.parametrize(("limit", "value"), WRONG)
def test_a_limit_is_a_number_above_0_and_else_named_with_its_value(limit: str, value: Any) -> None:
    with pytest.raises(ValueError, match=rf"^{limit} is {value!r}; it is .*, a .*number"):
        Limits(**{"turns": 1, limit: value})


@given(st.integers(1, 20), st.none() | st.integers(1, 20), st.integers(1, 20), st.integers(0, 30))
def test_the_last_turn_is_the_last_of_all_or_the_first_without_a_call_left(
    turns: int, most: int | None, turn: int, calls: int
) -> None:
    limits = Limits(turns=turns, max_calls=most)
    left = most is None or calls < most
    assert limits.last(turn, calls=calls) is (not (turn < turns and left))


def test_replies_and_work_are_added_up_until_the_time_is_over() -> None:
    async def spend() -> None:
        time = OwnTime(100)
        time.add(60)
        assert not time.over
        assert await time.run(asyncio.sleep(0.001, "result")) == "result"
        assert 60.001 <= time.seconds < 100
        time.add(39.999)
        assert time.over

    asyncio.run(spend())


def test_work_is_ended_when_the_time_is_over_and_not_begun_after_it() -> None:
    async def spend() -> list[str]:
        ended: list[str] = []

        async def hang(name: str) -> None:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError as error:
                ended.append(name)
                msg = "turned into another error"
                raise RuntimeError(msg) from error

        time = OwnTime(0.02)
        for name in ("first", "second"):
            with pytest.raises(OutOfTimeError):
                await time.run(hang(name))
            assert time.over
        return ended

    assert asyncio.run(spend()) in (["first"], ["first", "second"])


def test_errors_of_the_work_are_its_own_even_a_timeout_of_its_own() -> None:
    async def fail() -> None:
        raise TimeoutError

    async def spend(most: float | None) -> None:
        with pytest.raises(TimeoutError):
            await OwnTime(most).run(fail())

    asyncio.run(spend(100))
    asyncio.run(spend(None))


def test_who_cancels_the_sample_is_obeyed() -> None:
    async def spend() -> None:
        time = OwnTime(100)
        task = asyncio.ensure_future(time.run(asyncio.Event().wait()))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(spend())

"""At most a few queries at once, or one alone."""

from __future__ import annotations

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from pytest_llmeval.domains.heracles.query_slots import WIDTH, QuerySlots


@given(st.lists(st.booleans(), max_size=30))
def test_whoever_is_alone_overlaps_with_nobody_and_no_more_than_the_width_run(
    alone: list[bool],
) -> None:
    under_way: list[bool] = []

    async def query(slots: QuerySlots, *, by_itself: bool) -> None:
        async with slots.alone() if by_itself else slots.one():
            under_way.append(by_itself)
            assert len(under_way) <= (1 if True in under_way else WIDTH)
            await asyncio.sleep(0)
            under_way.remove(by_itself)

    async def all_queries() -> None:
        slots = QuerySlots()
        await asyncio.gather(*(query(slots, by_itself=one) for one in alone))

    asyncio.run(all_queries())
    assert under_way == []


def test_a_cancelled_wait_for_all_slots_gives_back_those_it_had() -> None:
    async def give_up() -> None:
        slots = QuerySlots()
        async with slots.one():
            waiting = asyncio.ensure_future(_alone(slots))
            await asyncio.sleep(0)
            waiting.cancel()
        async with asyncio.timeout(5):
            await _alone(slots)

    asyncio.run(give_up())


async def _alone(slots: QuerySlots) -> None:
    async with slots.alone():
        pass

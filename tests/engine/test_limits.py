"""The limiter, in virtual time: minutes of pacing and pausing take no time."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable

import pytest
from engine.virtual_time import run

from pytest_llmeval.engine.limits import PAUSE_CAP, Limiter, Slot
from pytest_llmeval.engine.statistics import CallStatistics
from pytest_llmeval.engine.tickets import Ticket
from pytest_llmeval.errors import ProviderError


def now() -> float:
    return asyncio.get_running_loop().time()


async def pass_through(
    limiter: Limiter,
    ticket: Ticket,
    *,
    tokens: int = 0,
    seconds: float = 1.0,
    log: list[tuple[float, int]],
) -> None:
    async with limiter.slot(ticket, tokens=tokens):
        log.append((now(), ticket.order))
        await asyncio.sleep(seconds)


def most_in_a_minute(starts: list[float], weights: list[int] | None = None) -> int:
    weights = weights or [1] * len(starts)
    return max(
        sum(
            weight
            for start, weight in zip(starts, weights, strict=True)
            if first <= start < first + 60
        )
        for first in starts
    )


def test_no_more_than_the_concurrency_are_ever_in_flight() -> None:
    statistics = CallStatistics()

    async def main() -> None:
        limiter = Limiter(7, statistics=statistics)
        seconds = random.Random(1)
        await asyncio.gather(
            *(
                pass_through(limiter, Ticket(order), seconds=seconds.random(), log=[])
                for order in range(200)
            )
        )
        assert limiter.in_flight == 0

    run(main())
    assert statistics.peak_in_flight == 7


def test_waiting_requests_are_served_in_the_order_of_their_samples() -> None:
    log: list[tuple[float, int]] = []

    async def main() -> None:
        limiter = Limiter(1)
        await asyncio.gather(
            *(pass_through(limiter, Ticket(order), log=log) for order in (0, 5, 3, 9, 1))
        )

    run(main())
    assert [order for _, order in log] == [0, 1, 3, 5, 9]


def test_a_request_goes_first_once_a_test_waits_for_it() -> None:
    log: list[tuple[float, int]] = []

    async def main() -> None:
        limiter = Limiter(1)
        tickets = [Ticket(order) for order in range(6)]
        tasks = [asyncio.create_task(pass_through(limiter, ticket, log=log)) for ticket in tickets]
        await asyncio.sleep(0.5)
        tickets[5].urgent = True
        tickets[3].urgent = True
        await asyncio.sleep(1)
        tickets[3].urgent = False
        await asyncio.gather(*tasks)

    run(main())
    assert [order for _, order in log] == [0, 3, 5, 1, 2, 4]


def test_a_request_that_was_refused_comes_after_those_that_were_not() -> None:
    log: list[int] = []

    async def main() -> None:
        limiter = Limiter(1)

        async def refused(order: int, times: int) -> None:
            async with limiter.slot(Ticket(order, urgent=order == 0), refusals=times):
                log.append(order)
                await asyncio.sleep(1)

        await asyncio.gather(*(refused(order, times) for order, times in enumerate([0, 2, 1, 0])))
        log.clear()
        await asyncio.gather(*(refused(order, times) for order, times in enumerate([3, 2, 1, 0])))

    run(main())
    # The first to come finds the slot free; it is served at once, refused or not.
    assert log == [0, 3, 2, 1]


def test_an_urgent_sample_stays_urgent_for_its_next_request() -> None:
    log: list[tuple[float, int]] = []

    async def main() -> None:
        limiter = Limiter(1)
        urgent = Ticket(99, urgent=True)
        tasks = [
            asyncio.create_task(pass_through(limiter, Ticket(order), log=log)) for order in range(3)
        ]
        await asyncio.sleep(0.5)
        await pass_through(limiter, urgent, log=log)
        await asyncio.gather(*tasks)

    run(main())
    assert [order for _, order in log] == [0, 99, 1, 2]


def test_20000_waiting_requests_are_served_with_a_bounded_number_of_queue_entries() -> None:
    log: list[tuple[float, int]] = []

    async def main() -> None:
        limiter = Limiter(100)
        tickets = [Ticket(order) for order in range(20_000)]
        tasks = [asyncio.create_task(pass_through(limiter, ticket, log=log)) for ticket in tickets]
        await asyncio.sleep(0)
        for ticket in tickets[::20]:
            ticket.urgent = True
        assert len(limiter._queue) <= 21_000
        await asyncio.gather(*tasks)
        assert not limiter._queue

    run(main())
    # The first hundred were in flight before any was urgent.
    assert [order for _, order in log[100:1095]] == list(range(100, 20_000, 20))


@pytest.mark.parametrize("rpm", [3, 60, 600, 90])
def test_any_minute_holds_at_most_rpm_requests_and_none_is_wasted(rpm: int) -> None:
    log: list[tuple[float, int]] = []
    statistics = CallStatistics()

    async def main() -> None:
        limiter = Limiter(1000, rpm=rpm, statistics=statistics)
        await asyncio.gather(
            *(pass_through(limiter, Ticket(order), log=log) for order in range(3 * rpm))
        )

    run(main())
    starts = [start for start, _ in log]
    assert most_in_a_minute(starts) <= rpm
    # Three minutes' worth of requests: the last one starts within three minutes and the timers'
    # margin.
    assert starts[-1] - starts[0] < 180 + 0.001 * len(starts)
    assert statistics.limited_seconds == pytest.approx(starts[-1] - starts[0], rel=0.05)


def test_a_pause_between_bursts_saves_no_more_than_a_second_of_requests() -> None:
    log: list[tuple[float, int]] = []

    async def main() -> None:
        limiter = Limiter(1000, rpm=120)
        for burst in range(3):
            await asyncio.gather(
                *(pass_through(limiter, Ticket(burst), log=log) for _ in range(60))
            )
            await asyncio.sleep(40)

    run(main())
    assert most_in_a_minute([start for start, _ in log]) <= 120


def test_any_minute_holds_at_most_tpm_tokens() -> None:
    log: list[tuple[float, int]] = []
    sizes = random.Random(2)
    tokens = [sizes.randint(1, 900) for _ in range(400)]

    async def main() -> None:
        limiter = Limiter(1000, tpm=60_000)
        await asyncio.gather(
            *(
                pass_through(limiter, Ticket(order), tokens=size, log=log)
                for order, size in enumerate(tokens)
            )
        )

    run(main())
    assert (
        most_in_a_minute([start for start, _ in log], [tokens[order] for _, order in log]) <= 60_000
    )


def test_a_request_larger_than_a_minute_of_tokens_goes_and_is_paid_for_afterwards() -> None:
    log: list[tuple[float, int]] = []

    async def main() -> None:
        limiter = Limiter(10, tpm=6_000)
        await asyncio.gather(
            *(pass_through(limiter, Ticket(order), tokens=12_000, log=log) for order in range(2))
        )

    run(main())
    assert log[1][0] - log[0][0] == pytest.approx(120, rel=0.05)


def test_tokens_not_used_are_given_back() -> None:
    log: list[tuple[float, int]] = []

    async def one(limiter: Limiter, order: int) -> None:
        async with limiter.slot(Ticket(order), tokens=100) as slot:
            log.append((now(), order))
            limiter.replied(slot, tokens=10)

    async def main() -> None:
        limiter = Limiter(1, tpm=600)
        await asyncio.gather(*(one(limiter, order) for order in range(60)))

    run(main())
    # 60 x 10 tokens are a minute's worth; by the estimates it would be ten.
    assert log[-1][0] - log[0][0] < 70


async def burst_of_refusals(limiter: Limiter, count: int, retry_after: float | None = None) -> None:
    async def refused(order: int) -> None:
        async with limiter.slot(Ticket(order)) as slot:
            await asyncio.sleep(0.1)
            limiter.throttled(slot, retry_after=retry_after)

    await asyncio.gather(*(refused(order) for order in range(count)))


def test_a_burst_of_refusals_halves_the_concurrency_once() -> None:
    async def main() -> None:
        limiter = Limiter(100)
        await burst_of_refusals(limiter, 100)
        assert limiter.allowed == 50
        await burst_of_refusals(limiter, 50)
        assert limiter.allowed == 25

    run(main())


def test_refusals_never_end_all_requests() -> None:
    async def main() -> None:
        limiter = Limiter(8)
        for _ in range(20):
            await burst_of_refusals(limiter, 1)
        assert limiter.allowed == 1

    run(main())


def test_replies_bring_the_concurrency_back_within_twenty_rounds() -> None:
    async def main() -> int:
        limiter = Limiter(200)
        for _ in range(8):
            await burst_of_refusals(limiter, 200)
        replies = 0

        async def replied(order: int) -> None:
            nonlocal replies
            async with limiter.slot(Ticket(order)) as slot:
                await asyncio.sleep(1)
                limiter.replied(slot, tokens=0)
                replies += 1

        start = now()
        await asyncio.gather(*(replied(order) for order in range(3000)))
        assert limiter.allowed == 200
        return round(now() - start)

    # 3,000 replies of a second at 200 take 15 s; regaining the 200 may cost twenty rounds more.
    assert run(main()) < 15 + PAUSE_CAP + 21


def grants_after(action: Callable[[Limiter, Slot], Awaitable[None]]) -> float:
    """Return the seconds from `action` on a request in flight until the next request may start."""

    async def main() -> float:
        limiter = Limiter(4)
        async with limiter.slot(Ticket(0)) as slot:
            start = now()
            await action(limiter, slot)
        async with limiter.slot(Ticket(1)):
            return now() - start

    return run(main())


def test_all_requests_wait_as_long_as_the_provider_asks() -> None:
    async def refuse(limiter: Limiter, slot: Slot) -> None:
        limiter.throttled(slot, retry_after=7.0)

    assert grants_after(refuse) == pytest.approx(7, abs=0.01)


def test_a_limiter_that_resumes_neither_waits_nor_holds_back() -> None:
    async def main() -> float:
        limiter = Limiter(40)
        await burst_of_refusals(limiter, 40, retry_after=50.0)
        start = now()
        limiter.resume()
        await asyncio.gather(*(pass_through(limiter, Ticket(order), log=[]) for order in range(40)))
        return now() - start

    assert run(main()) == pytest.approx(1, abs=0.01)


def test_an_absurd_retry_after_is_capped() -> None:
    async def refuse(limiter: Limiter, slot: Slot) -> None:
        limiter.throttled(slot, retry_after=1e9)

    assert grants_after(refuse) == pytest.approx(PAUSE_CAP, abs=0.01)


def test_further_refusals_during_a_pause_cannot_push_it_beyond_the_cap() -> None:
    async def refuse(limiter: Limiter, slot: Slot) -> None:
        for _ in range(5):
            limiter.throttled(slot, retry_after=50.0)
            await asyncio.sleep(10)

    assert grants_after(refuse) == pytest.approx(PAUSE_CAP, abs=0.01)


def test_pauses_without_retry_after_double_until_a_reply_comes() -> None:
    pauses: list[float] = []

    async def main() -> None:
        limiter = Limiter(4)
        for attempt in range(6):
            asked = now()
            async with limiter.slot(Ticket(0)) as slot:
                pauses.append(round(now() - asked, 1))
                await asyncio.sleep(0.1)
                if attempt == 4:
                    limiter.replied(slot, tokens=0)
                limiter.throttled(slot, retry_after=None)

    run(main())
    assert pauses == [0, 0.5, 1, 2, 4, 0.5]


def test_cancelling_waiters_and_holders_loses_no_slot() -> None:
    async def main() -> None:
        limiter, log = Limiter(3, rpm=6000), list[tuple[float, int]]()
        chance = random.Random(3)
        tasks = [
            asyncio.create_task(pass_through(limiter, Ticket(order), log=log))
            for order in range(300)
        ]
        for task in tasks:
            if chance.random() < 0.7:
                await asyncio.sleep(chance.choice([0, 0, 0.3]))
                task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert limiter.in_flight == 0
        await asyncio.wait_for(pass_through(limiter, Ticket(0), log=log), 10)

    run(main())


def test_a_grant_that_meets_a_cancellation_is_passed_on() -> None:
    async def main() -> None:
        limiter, log = Limiter(1), list[tuple[float, int]]()
        first = asyncio.create_task(pass_through(limiter, Ticket(0), log=log))
        second = asyncio.create_task(pass_through(limiter, Ticket(1), log=log))
        third = asyncio.create_task(pass_through(limiter, Ticket(2), log=log))
        await asyncio.sleep(0.5)
        # The first one's end grants the slot to the second, which is cancelled before it runs
        # again.
        first.cancel()
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.gather(first, second, third, return_exceptions=True)
        assert [order for _, order in log] == [0, 2]
        assert limiter.in_flight == 0

    run(main())


def test_stopping_ends_all_waiters_and_comers_and_spares_those_in_flight() -> None:
    async def main() -> None:
        limiter, log = Limiter(2), list[tuple[float, int]]()
        tasks = [
            asyncio.create_task(pass_through(limiter, Ticket(order), log=log))
            for order in range(500)
        ]
        await asyncio.sleep(0.5)
        limiter.stop(lambda: ProviderError("gone", reach="model"))
        with pytest.raises(ProviderError, match="gone"):
            await pass_through(limiter, Ticket(0), log=log)
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert results[:2] == [None, None]
        assert len({id(error) for error in results[2:]}) == 498

    run(main())

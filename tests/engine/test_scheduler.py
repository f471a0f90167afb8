"""The scheduler in virtual time: a window ahead of the tests, urgent first, and how a run ends."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from engine.virtual_time import run

from pytest_llmeval.engine.limits import Limiter
from pytest_llmeval.engine.scheduler import Scheduler
from pytest_llmeval.engine.solved import Solved
from pytest_llmeval.engine.tickets import Ticket
from pytest_llmeval.errors import LLMEvalError, ProviderError, RunStopped
from pytest_llmeval.records import Completion


class Bench:
    """A scheduler over solvers that take one second, and what they did."""

    def __init__(
        self, count: int, *, window: int, fails: dict[int, Exception] | None = None
    ) -> None:
        """Schedule `count` samples; those in `fails` fail after their second."""
        self.fails = fails or {}
        self.started: list[int] = []
        self.cancelled: list[int] = []
        self.scheduler = Scheduler(
            count, self.solve, window=window, fatal=lambda error: "fatal" in str(error)
        )

    async def solve(self, position: int, _: Ticket) -> Solved:
        self.started.append(position)
        try:
            await asyncio.sleep(1.0)
        except asyncio.CancelledError:
            self.cancelled.append(position)
            raise
        if position in self.fails:
            raise self.fails[position]
        return Solved(completion=Completion(text=str(position)))

    async def ask(self, position: int, worker: str = "") -> str:
        return (await self.scheduler.completion(worker, position)).completion.text


def test_samples_are_started_ahead_up_to_the_window() -> None:
    bench = Bench(100, window=8)

    async def main() -> None:
        assert await bench.ask(0) == "0"
        await asyncio.sleep(100)
        # While 0 was under way it filled one of the eight places; with it handed over, the next
        # moved up.
        assert bench.started == list(range(9))
        assert bench.scheduler.ahead == 8

    run(main())


def test_no_more_than_the_window_is_ever_undelivered_besides_what_is_demanded() -> None:
    bench = Bench(60, window=5)
    seen: list[int] = []

    async def worker(name: str, positions: range) -> None:
        for position in positions:
            assert await bench.ask(position, name) == str(position)
            seen.append(bench.scheduler.ahead)

    async def main() -> None:
        await asyncio.gather(
            worker("gw0", range(0, 60, 3)),
            worker("gw1", range(1, 60, 3)),
            worker("gw2", range(2, 60, 3)),
        )

    run(main())
    assert max(seen) <= 5 + 3
    assert sorted(bench.started) == list(range(60))


def test_the_window_hides_the_latency() -> None:
    bench = Bench(100, window=10)

    async def main() -> float:
        start = asyncio.get_running_loop().time()
        for position in range(100):
            await bench.ask(position)
        return asyncio.get_running_loop().time() - start

    # One second for each ten samples; asked one after the other they would take a hundred.
    assert run(main()) == pytest.approx(10, abs=1.5)


def test_a_demanded_sample_is_started_though_the_window_is_full_of_others() -> None:
    bench = Bench(100, window=3)

    async def main() -> None:
        await bench.ask(0)
        await asyncio.sleep(10)
        assert await bench.ask(50, "gw1") == "50"

    run(main())


def test_what_a_test_waits_for_goes_before_what_was_started_ahead() -> None:
    limiter = Limiter(1)
    order: list[int] = []

    async def solve(position: int, ticket: Ticket) -> Solved:
        async with limiter.slot(ticket):
            order.append(position)
            await asyncio.sleep(1)
        return Solved(completion=Completion(text=""))

    scheduler = Scheduler(10, solve, window=10, fatal=lambda _: False)

    async def main() -> None:
        first = asyncio.create_task(scheduler.completion("gw0", 0))
        await asyncio.sleep(0.5)
        await scheduler.completion("gw1", 7)
        await first

    run(main())
    assert order[:2] == [0, 7]


def test_a_failure_is_kept_for_the_test_that_asks() -> None:
    bench = Bench(3, window=3, fails={1: ProviderError("down")})

    async def main() -> None:
        await bench.ask(0)
        await asyncio.sleep(5)
        with pytest.raises(ProviderError, match="down"):
            await bench.ask(1)
        assert await bench.ask(2) == "2"

    run(main())


def test_a_rerun_runs_the_solver_again() -> None:
    bench = Bench(2, window=2)

    async def main() -> None:
        await bench.ask(0)
        await bench.ask(0)

    run(main())
    assert sorted(bench.started) == [0, 0, 1]


def test_a_discarded_sample_gives_its_place_to_the_next() -> None:
    bench = Bench(10, window=3)

    async def main() -> None:
        asking = asyncio.create_task(bench.ask(0))
        await asyncio.sleep(0.5)
        assert bench.started == [0, 1, 2]
        bench.scheduler.discard(1)
        await asyncio.sleep(0)
        await asking
        assert bench.cancelled == [1]
        assert bench.started == [0, 1, 2, 3, 4]

    run(main())


def test_a_rerun_that_asks_before_its_last_attempt_is_told_to_be_over_gets_its_completion() -> None:
    bench = Bench(1, window=1)

    async def main() -> None:
        await bench.ask(0)
        rerun = asyncio.create_task(bench.ask(0))
        await asyncio.sleep(0.5)
        bench.scheduler.discard(0)
        assert await rerun == "0"

    run(main())
    assert bench.started == [0, 0]


def test_tests_that_end_without_asking_never_block_the_window() -> None:
    bench = Bench(50, window=4)

    async def main() -> None:
        await bench.ask(0)
        for position in range(1, 40):
            bench.scheduler.discard(position)
        await asyncio.sleep(5)
        assert bench.scheduler.ahead == 4
        assert bench.started[-4:] == [40, 41, 42, 43]

    run(main())


def test_a_test_over_before_the_first_question_is_never_started() -> None:
    bench = Bench(4, window=4)

    async def main() -> None:
        bench.scheduler.discard(0)
        bench.scheduler.discard(1)
        await bench.ask(2)
        await asyncio.sleep(5)

    run(main())
    assert bench.started == [2, 3]


def test_stop_cancels_what_runs_and_tells_who_waits() -> None:
    bench = Bench(10, window=4)

    async def main() -> None:
        waiting = [asyncio.create_task(bench.ask(position, f"gw{position}")) for position in (0, 1)]
        await asyncio.sleep(0.5)
        await bench.scheduler.stop(RunStopped("over"))
        for outcome in await asyncio.gather(*waiting, return_exceptions=True):
            assert isinstance(outcome, RunStopped)
            assert str(outcome) == "over"
        with pytest.raises(RunStopped, match="over"):
            await bench.ask(5)

    run(main())
    assert sorted(bench.cancelled) == sorted(bench.started) == [0, 1, 2, 3]


def test_after_a_fatal_failure_one_test_is_told_it_and_the_others_that_the_run_has_stopped() -> (
    None
):
    bench = Bench(20, window=6, fails={3: ProviderError("fatal: 401")})

    async def main() -> list[Any]:
        waiting = [
            asyncio.create_task(bench.ask(position, f"gw{position}")) for position in (3, 4, 5)
        ]
        await asyncio.sleep(0.5)
        waiting += [
            asyncio.create_task(bench.ask(position, f"gw{position}")) for position in (10, 15)
        ]
        outcomes = await asyncio.gather(*waiting, return_exceptions=True)
        with pytest.raises(RunStopped):
            await bench.ask(19)
        return outcomes

    outcomes = run(main())
    told = [outcome for outcome in outcomes if isinstance(outcome, ProviderError)]
    stopped = [outcome for outcome in outcomes if isinstance(outcome, RunStopped)]
    assert len(told) == 1
    assert {str(outcome) for outcome in told + stopped} == {"fatal: 401"}
    assert 19 not in bench.started


def test_what_was_finished_before_a_fatal_failure_can_still_be_had() -> None:
    bench = Bench(10, window=4, fails={4: ProviderError("fatal: no credit")})

    async def main() -> None:
        await bench.ask(0)
        await asyncio.sleep(5)
        assert [await bench.ask(position) for position in (1, 2, 3)] == ["1", "2", "3"]
        with pytest.raises(ProviderError, match="no credit"):
            await bench.ask(4)
        with pytest.raises(RunStopped, match="no credit"):
            await bench.ask(5)

    run(main())


def test_a_solver_that_cancels_itself_is_an_error_and_no_hang() -> None:
    bench = Bench(2, window=1, fails={0: asyncio.CancelledError()})  # type: ignore[dict-item]  # the case at hand

    async def main() -> None:
        with pytest.raises(LLMEvalError, match="cancelled its own asyncio task"):
            await bench.ask(0)
        assert await bench.ask(1) == "1"

    run(main())


def test_an_asker_that_goes_away_leaves_the_sample_running() -> None:
    bench = Bench(1, window=1)

    async def main() -> None:
        asking = asyncio.create_task(bench.ask(0))
        await asyncio.sleep(0.5)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert bench.cancelled == []

    run(main())


def test_the_window_bounds_a_plan_of_a_hundred_thousand() -> None:
    bench = Bench(100_000, window=500)

    async def main() -> None:
        for position in range(0, 100_000, 10_000):
            await bench.ask(position)
        assert bench.scheduler.ahead == 500
        await bench.scheduler.stop(RunStopped("over"))

    run(main())
    assert len(bench.started) <= 500 + 10


def test_a_sample_is_told_ahead_of_its_test_and_stays_within_the_window() -> None:
    bench = Bench(20, window=4)

    async def main() -> None:
        early = [asyncio.create_task(bench.scheduler.ahead_of_test(n)) for n in range(20)]
        await asyncio.sleep(100)
        assert bench.started == []
        for turn in range(20):
            assert await bench.ask(turn) == str(turn)
            await asyncio.sleep(100)
            # What bodies got ahead is not handed over: no more is started than without them.
            assert len(bench.started) <= turn + 1 + 4
            told = [task.result().completion.text for task in early if task.done()]
            assert told == [str(n) for n in range(len(bench.started))]
        assert sorted(bench.started) == list(range(20))

    run(main())


def test_who_waits_ahead_of_a_test_gets_its_failure_and_takes_it_from_nobody() -> None:
    bench = Bench(3, window=3, fails={1: LLMEvalError("wrong"), 2: LLMEvalError("fatal")})

    async def main() -> None:
        early = [asyncio.create_task(bench.scheduler.ahead_of_test(n)) for n in range(3)]
        assert await bench.ask(0) == "0"
        await asyncio.wait(early)
        assert isinstance(early[1].exception(), LLMEvalError)
        assert isinstance(early[2].exception(), RunStopped)
        with pytest.raises(LLMEvalError, match="fatal"):
            await bench.ask(2)
        with pytest.raises(RunStopped):
            await bench.scheduler.ahead_of_test(0)

    run(main())


def test_a_solved_sample_is_taken_once_and_the_window_moves_on_when_the_loop_learns_of_it() -> None:
    bench = Bench(20, window=4)

    async def main() -> None:
        assert await bench.ask(0) == "0"
        assert bench.scheduler.take(4) is None  # under way
        await asyncio.sleep(10)
        taken = bench.scheduler.take(1)
        assert taken is not None
        assert taken.completion.text == "1"
        assert bench.scheduler.take(1) is None
        assert bench.started == list(range(5))
        bench.scheduler.taken("", 1)
        assert bench.scheduler.ahead == 4
        await asyncio.sleep(0)
        assert bench.started == list(range(6))
        assert bench.scheduler.take(19) is None  # not started

    run(main())


def test_a_rerun_of_a_test_that_took_its_sample_has_it_solved_again() -> None:
    bench = Bench(3, window=3)

    async def main() -> None:
        assert await bench.ask(0) == "0"
        await asyncio.sleep(10)
        assert bench.scheduler.take(1) is not None
        bench.scheduler.taken("", 1)
        assert bench.scheduler.take(1) is None
        assert await bench.ask(1) == "1"
        assert bench.started == [0, 1, 2, 1]

    run(main())


def test_a_failed_sample_is_not_taken_and_its_failure_goes_to_who_asks() -> None:
    bench = Bench(3, window=3, fails={1: LLMEvalError("broken")})

    async def main() -> None:
        assert await bench.ask(0) == "0"
        await asyncio.sleep(10)
        assert bench.scheduler.take(1) is None
        with pytest.raises(LLMEvalError, match="broken"):
            await bench.ask(1)

    run(main())


def test_samples_that_are_solved_are_taken_after_a_fatal_failure_and_others_are_not() -> None:
    bench = Bench(40, window=3, fails={2: LLMEvalError("fatal")})

    async def main() -> None:
        assert await bench.ask(0) == "0"
        await asyncio.sleep(10)
        assert bench.scheduler.ended is not None
        assert bench.scheduler.take(1) is not None
        assert bench.scheduler.take(2) is None
        assert bench.scheduler.take(3) is None
        bench.scheduler.taken("", 1)
        assert bench.started == [0, 1, 2]

    run(main())


def test_only_a_test_that_asked_leaves_nothing_to_discard() -> None:
    bench = Bench(5, window=5)

    async def main() -> None:
        assert await bench.ask(0) == "0"
        await asyncio.sleep(10)
        assert bench.scheduler.take(1) is not None
        assert [bench.scheduler.was_asked(position) for position in range(3)] == [True, True, False]

    run(main())

"""The gateway, over a scripted provider in virtual time, and over a real server that misbehaves."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from engine.requests_and_replies import MODEL
from engine.virtual_time import run
from servers.fixture import serving

from pytest_llmeval.engine.attempts import MAX_TIMEOUTS
from pytest_llmeval.engine.budget import Budget
from pytest_llmeval.engine.expectation import CEILINGS
from pytest_llmeval.engine.failures import SEVERAL
from pytest_llmeval.engine.flights import Flight
from pytest_llmeval.engine.gateway import Gateway
from pytest_llmeval.engine.limits import Limiter
from pytest_llmeval.engine.prices import Price
from pytest_llmeval.engine.spec_settings import PATIENCE
from pytest_llmeval.engine.specs import parse_spec
from pytest_llmeval.engine.statistics import CallStatistics
from pytest_llmeval.engine.tickets import Ticket
from pytest_llmeval.errors import FailedAttempt, ModelSilent, ProviderError, RunStopped
from pytest_llmeval.providers.opening import open_provider
from pytest_llmeval.records import Image, Message, Reply, Request, Usage

Behaviour = Callable[[str, int], Awaitable[Reply] | Reply | Exception]


class ScriptedProvider:
    """Answers by a function of the prompt and of how often it was asked, counted from 1."""

    def __init__(self, behave: Behaviour) -> None:
        """Take the function."""
        self.behave = behave
        self.asked: dict[str, int] = {}
        self.closed = False

    async def send(self, request: Request) -> Reply:
        prompt = request.messages[-1].text
        self.asked[prompt] = self.asked.get(prompt, 0) + 1
        outcome = self.behave(prompt, self.asked[prompt])
        if isinstance(outcome, Exception):
            raise outcome
        return outcome if isinstance(outcome, Reply) else await outcome

    async def close(self) -> None:
        self.closed = True


def request(prompt: str, **parameters: Any) -> Request:
    return Request(
        provider="openai", model="m", messages=(Message.of("user", prompt),), parameters=parameters
    )


def reply(text: str = "yes", *, tokens: int = 5) -> Reply:
    return Reply(
        text=text, usage=Usage(input_tokens=10, output_tokens=tokens, requests=1), latency=0.5
    )


def fault(
    cause: str, status: int | None = None, *, retry_after: float | None = None
) -> ProviderError:
    return ProviderError(
        f"m: {cause}", reach="attempt", status=status, cause=cause, retry_after=retry_after
    )


Answered = tuple[Reply, tuple[FailedAttempt, ...]]


class Bench:
    """A gateway over a scripted provider, and what it did."""

    def __init__(
        self,
        behave: Behaviour,
        *,
        concurrency: int = 10,
        budget: Budget | None = None,
        **options: Any,
    ) -> None:
        """Take the provider's function, and options of the gateway other than the test's."""
        self.provider = ScriptedProvider(behave)
        self.statistics = CallStatistics()
        patience = options.get("patience", PATIENCE)
        limits = Limiter(concurrency, statistics=self.statistics, longest_pause=patience / 6)
        made: dict[str, Any] = {"timeout": 60.0, "jitter": lambda: 1.0, **options}
        self.gateway = Gateway(
            self.provider,
            name="openai/m",
            limits=limits,
            budget=budget or Budget(),
            statistics=self.statistics,
            **made,
        )

    async def ask(self, prompt: str = "q", order: int = 0, **parameters: Any) -> Answered:
        return await self.gateway.ask(request(prompt, **parameters), Ticket(order))

    async def ask_many(self, count: int) -> list[Answered | BaseException]:
        return await asyncio.gather(
            *(self.ask(f"q{i}", i) for i in range(count)), return_exceptions=True
        )

    def assert_every_request_is_accounted_for(self) -> None:
        counted = self.statistics
        sent = sum(self.provider.asked.values())
        assert sent == counted.requests
        assert (
            sent
            == counted.replies
            + counted.retries.total()
            + counted.errors.total()
            + counted.abandoned
        )


def test_a_reply_comes_with_its_attempts_and_its_price() -> None:
    prices = {"openai/m": Price(input=2.0, output=10.0)}
    bench = Bench(
        lambda _, n: reply() if n == 3 else fault("500", 500), budget=Budget(prices=prices)
    )
    answer, failures = run(bench.ask())
    assert (answer.text, [one.cause for one in failures]) == ("yes", ["500", "500"])
    # 10 x 2 + 5 x 10 = 70 millionths of a dollar.
    assert answer.usage.cost == pytest.approx(70e-6)
    assert bench.statistics.to_json()["retries"] == {"500": 2}
    assert bench.statistics.to_json()["statuses"] == {"200": 1, "500": 2}
    bench.assert_every_request_is_accounted_for()


def test_the_waits_between_attempts_grow_with_full_jitter() -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    bench = Bench(lambda *_: fault("500", 500), sleep=sleep, jitter=lambda: 0.5)
    with pytest.raises(ProviderError) as caught:
        run(bench.ask())
    assert waits == [0.25, 0.5, 1, 2, 4, 8, 16, 30, 30]
    assert bench.statistics.backoff_seconds == sum(waits)
    assert caught.value.reach == "sample"
    assert str(caught.value) == "openai/m: gave up after 10 attempts; the last one: m: 500"


def test_a_slot_is_free_for_others_while_a_request_waits_for_its_next_attempt() -> None:
    bench = Bench(
        lambda prompt, n: fault("500", 500) if (prompt, n) == ("q0", 1) else reply(), concurrency=1
    )

    async def main() -> float:
        start = asyncio.get_running_loop().time()
        await asyncio.gather(bench.ask("q0", 0), bench.ask("q1", 1))
        return asyncio.get_running_loop().time() - start

    assert run(main()) == pytest.approx(0.5, abs=0.01)


def test_a_request_that_gets_no_reply_in_time_is_tried_only_a_few_times() -> None:
    bench = Bench(lambda *_: asyncio.sleep(1e6, reply()), timeout=30.0)
    with pytest.raises(
        ProviderError, match=r"gave up after 3 attempts; the last one: .*no reply within 30 s"
    ):
        run(bench.ask())
    assert bench.statistics.retries == {"timeout": MAX_TIMEOUTS - 1}
    assert bench.statistics.errors == {"timeout": 1}
    bench.assert_every_request_is_accounted_for()


@pytest.mark.parametrize("cause", ["429", "busy"])
def test_refusals_by_rate_limit_do_not_use_up_the_attempts(cause: str) -> None:
    # The status decides: which word a provider has for it is its own affair.
    bench = Bench(lambda _, n: reply() if n > 15 else fault(cause, 429, retry_after=1.0))
    _, failures = run(bench.ask())
    assert len(failures) == 15
    assert bench.statistics.limited_seconds == pytest.approx(15, rel=0.01)
    assert bench.statistics.backoff_seconds == 0


def test_a_provider_that_refuses_for_ever_ends_the_sample() -> None:
    bench = Bench(lambda *_: fault("429", 429, retry_after=1.0))
    with pytest.raises(ProviderError, match="gave up after 30 attempts"):
        run(bench.ask())


def test_an_overloaded_server_makes_all_wait_as_it_asks() -> None:
    bench = Bench(
        lambda prompt, n: (
            fault("503", 503, retry_after=20.0) if (prompt, n) == ("q0", 1) else reply()
        )
    )

    async def main() -> float:
        await bench.ask("q1")
        start = asyncio.get_running_loop().time()
        first = asyncio.create_task(bench.ask("q0"))
        await asyncio.sleep(1)
        await bench.ask("q2")
        await first
        return asyncio.get_running_loop().time() - start

    assert run(main()) == pytest.approx(20, abs=0.1)


def test_a_failure_that_reaches_the_model_ends_all_requests_with_the_same_message() -> None:
    async def refuse() -> Reply:
        await asyncio.sleep(1)
        msg = "m: key refused"
        raise ProviderError(msg, reach="model", status=401, cause="401")

    bench = Bench(lambda *_: refuse(), concurrency=4)
    errors = run(bench.ask_many(200))
    assert {str(error) for error in errors} == {"m: key refused"}
    assert {getattr(error, "reach", None) for error in errors} == {"model"}
    assert bench.statistics.requests == 4
    with pytest.raises(ProviderError, match="key refused"):
        run(bench.ask("late"))
    bench.assert_every_request_is_accounted_for()


def test_a_bad_request_ends_only_its_sample() -> None:
    def behave(prompt: str, _: int) -> Reply | Exception:
        return (
            ProviderError("m: too long", reach="sample", status=400, cause="400")
            if prompt > "q2"
            else reply()
        )

    bench = Bench(behave)
    outcomes = run(bench.ask_many(10))
    assert [isinstance(outcome, ProviderError) for outcome in outcomes] == [False] * 3 + [True] * 7
    assert run(bench.ask("q0"))[0].text == "yes"


def test_a_model_that_refuses_the_first_requests_all_alike_is_silent() -> None:
    bench = Bench(
        lambda *_: ProviderError("m: no such parameter", reach="sample", status=400, cause="400"),
        concurrency=1,
    )
    errors = run(bench.ask_many(500))
    assert bench.statistics.requests == 500
    assert [type(error) for error in errors] == [ProviderError] * (SEVERAL - 1) + [ModelSilent] * (
        500 - SEVERAL + 1
    )
    assert str(errors[-1]) == "the first 5 requests failed alike: m: no such parameter"


def test_first_requests_that_fail_in_different_ways_leave_the_model_alone() -> None:
    bench = Bench(
        lambda prompt, _: ProviderError(
            f"m: bad {prompt}", reach="sample", status=400, cause="400"
        ),
        concurrency=1,
    )
    run(bench.ask_many(20))
    assert bench.statistics.requests == 20


def refusing(now_and_then: Callable[[float], bool], error: ProviderError) -> Behaviour:
    """Return a model that replies after a second, and fails at once in a span of time."""
    start: list[float] = []

    def behave(_: str, __: int) -> Awaitable[Reply] | Exception:
        now = asyncio.get_running_loop().time()
        start.append(now)
        return error if now_and_then(now - start[0]) else asyncio.sleep(1, reply())

    return behave


def timed(bench: Bench, count: int) -> tuple[list[Answered | BaseException], float]:
    async def main() -> tuple[list[Answered | BaseException], float]:
        start = asyncio.get_running_loop().time()
        outcomes = await bench.ask_many(count)
        bench.assert_every_request_is_accounted_for()
        return outcomes, asyncio.get_running_loop().time() - start

    return run(main())


def test_a_server_that_was_never_there_costs_seconds_and_one_message() -> None:
    bench = Bench(refusing(lambda _: True, fault("unreachable")), concurrency=64)
    outcomes, seconds = timed(bench, 500)
    assert {str(outcome) for outcome in outcomes} == {"m: unreachable"}
    assert {getattr(outcome, "reach", None) for outcome in outcomes} == {"model"}
    assert seconds < 5
    assert bench.statistics.requests < 2 * 64


@pytest.mark.parametrize(
    "error", [fault("unreachable"), fault("503", 503), fault("429", 429)], ids=lambda e: e.cause
)
@pytest.mark.parametrize("away", [30, 120])
def test_a_server_that_goes_away_for_a_while_loses_no_sample(
    error: ProviderError, away: int
) -> None:
    bench = Bench(refusing(lambda seconds: 5 < seconds < 5 + away, error), concurrency=20)
    outcomes, seconds = timed(bench, 300)
    assert not [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
    assert bench.statistics.retries[error.cause] > 0
    assert seconds < 5 + 2 * away + 40


@pytest.mark.parametrize("patience", [20.0, PATIENCE, 900.0])
def test_a_server_that_goes_away_for_good_ends_the_model_when_patience_does(
    patience: float,
) -> None:
    bench = Bench(
        refusing(lambda seconds: seconds > 5, fault("unreachable")),
        concurrency=20,
        patience=patience,
    )
    outcomes, seconds = timed(bench, 2000)
    lost = [outcome for outcome in outcomes if isinstance(outcome, ProviderError)]
    assert len(lost) == 1880
    assert {error.reach for error in lost} == {"model"}
    told = re.fullmatch(
        r"openai/m: no reply for (\d+) s; the last error: m: unreachable", str(lost[-1])
    )
    assert told is not None
    assert patience <= float(told[1]) <= patience * 1.2
    assert patience <= seconds < patience * 1.2 + 10


@pytest.mark.parametrize("late", [0.1, 1.0, 3.0])
def test_a_reset_after_the_first_refused_connection_costs_no_sample_of_its_own(late: float) -> None:
    start: list[float] = []

    def behave(prompt: str, attempt: int) -> Awaitable[Reply] | Exception:
        start.append(asyncio.get_running_loop().time())
        if start[-1] - start[0] < 5:
            return asyncio.sleep(1, reply())
        return reset() if (prompt, attempt) == ("q20", 1) else fault("unreachable")

    async def reset() -> Reply:
        await asyncio.sleep(late)
        error = fault("reset")
        raise error

    bench = Bench(behave, concurrency=4, patience=2.0)
    outcomes, _ = timed(bench, 40)
    lost = [outcome for outcome in outcomes if isinstance(outcome, ProviderError)]
    assert len(lost) == 20
    assert {error.reach for error in lost} == {"model"}


def test_refusals_while_long_replies_are_under_way_do_not_end_the_model() -> None:
    async def main() -> list[Answered | BaseException]:
        start = asyncio.get_running_loop().time()

        def behave(prompt: str, _: int) -> Awaitable[Reply] | Exception:
            accepted = (
                prompt in {"q0", "q1", "q2"} or asyncio.get_running_loop().time() - start > 1000
            )
            return asyncio.sleep(1500, reply()) if accepted else fault("429", 429, retry_after=30.0)

        return await Bench(behave, concurrency=64, timeout=2000).ask_many(100)

    assert not [outcome for outcome in run(main()) if isinstance(outcome, BaseException)]


@pytest.mark.parametrize("ceiling", CEILINGS)
def test_the_run_ends_when_the_budget_is_reached(ceiling: str) -> None:
    prices = {"openai/m": Price(input=0.0, output=1000.0)}
    budget = Budget(usd=0.1, prices=prices)
    bench = Bench(lambda *_: reply(tokens=10), concurrency=1, budget=budget)
    outcomes = run(asyncio.wait_for(_with_ceiling(bench, 50, ceiling), 1e6))
    # 10 tokens at 0.001 dollars each are 0.01 a request.
    assert sum(isinstance(outcome, tuple) for outcome in outcomes) == 10
    assert {type(outcome) for outcome in outcomes[10:]} == {RunStopped}
    assert bench.statistics.requests == 10
    assert str(outcomes[-1]).startswith("budget of 0.1 USD reached: 0.1000 spent")


async def _with_ceiling(bench: Bench, count: int, ceiling: str) -> list[Answered | BaseException]:
    return await asyncio.gather(
        *(bench.ask(f"q{i}", i, **{ceiling: 10}) for i in range(count)), return_exceptions=True
    )


def test_a_small_budget_is_used_up_however_many_could_be_in_flight() -> None:
    # The first requests are expected to use 1,000 tokens each, but no more than 10 at a time fit by
    # that.
    budget = Budget(max_tokens=10_000)
    bench = Bench(lambda *_: asyncio.sleep(1, reply(tokens=100)), concurrency=64, budget=budget)
    outcomes = run(bench.ask_many(200))
    # 110 tokens each, of which 100 are expected.
    assert sum(isinstance(outcome, tuple) for outcome in outcomes) >= 90
    assert budget.spent_tokens <= 10_500
    bench.assert_every_request_is_accounted_for()


def test_what_waits_for_the_budget_and_is_not_wanted_any_more_is_not_sent() -> None:
    async def main() -> None:
        bench = Bench(lambda *_: asyncio.sleep(10, reply()), budget=Budget(max_tokens=1500))
        flights = [Flight(partial(bench.gateway.ask, request(f"q{i}")), i) for i in range(3)]
        await asyncio.sleep(1)
        for flight in flights:
            flight.give_up()
        outcomes = await asyncio.gather(
            *(flight.task for flight in flights), return_exceptions=True
        )
        assert [type(outcome) for outcome in outcomes] == [
            tuple,
            asyncio.CancelledError,
            asyncio.CancelledError,
        ]
        assert bench.statistics.requests == 1

    run(main())


def test_cancelled_requests_free_their_slots_and_reservations() -> None:
    async def main() -> None:
        budget = Budget(max_tokens=100_000)
        bench = Bench(lambda *_: asyncio.sleep(10, reply()), concurrency=5, budget=budget)
        tasks = [asyncio.create_task(bench.ask(f"q{i}", i)) for i in range(50)]
        await asyncio.sleep(1)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert bench.statistics.abandoned == 5
        await asyncio.gather(*(bench.ask(f"r{i}", i) for i in range(5)))
        bench.assert_every_request_is_accounted_for()

    run(main())


def test_closing_closes_the_provider() -> None:
    bench = Bench(lambda *_: reply())
    run(bench.gateway.close())
    assert bench.provider.closed


class NoImages:
    def load(self, path: str) -> Image:
        raise AssertionError(path)

    def save(self, data: bytes) -> Image:
        raise AssertionError(data)


async def ask_server(
    url: str, statistics: CallStatistics, count: int, *, concurrency: int, **options: Any
) -> list[Answered]:
    """Return the replies of a real server to ``question 0``, ``question 1`` and so on."""
    gateway = Gateway(
        open_provider(
            MODEL, folder=Path(), image_store=NoImages(), environ={"OPENAI_BASE_URL": url}
        ),
        name="openai/m",
        limits=Limiter(concurrency, statistics=statistics),
        budget=Budget(),
        statistics=statistics,
        **({"timeout": 30.0} | options),
    )
    try:
        return await asyncio.gather(
            *(gateway.ask(request(f"question {i}"), Ticket(i)) for i in range(count))
        )
    finally:
        await gateway.close()


def test_a_third_of_failed_requests_costs_no_sample_and_every_request_is_counted(
    model_server: Any,
) -> None:
    kinds = [
        {"kind": "429", "retry_after": "0.01"},
        {"kind": "429", "retry_after": "5ms"},
        {"kind": "500"},
        {"kind": "reset"},
        {"kind": "stall"},
        {"kind": "truncated"},
        {"kind": "half"},
    ]
    model_server.program(share=0.3, kinds=kinds, seed=7, latency=[0.0, 0.02])
    statistics = CallStatistics()
    replies = asyncio.run(
        ask_server(model_server.url, statistics, 300, concurrency=50, timeout=2, jitter=lambda: 0.0)
    )
    assert [answer.text for answer, _ in replies] == [f"echo: question {i}" for i in range(300)]
    report = model_server.report()
    assert report["requests"] == 300 + statistics.retries.total()
    assert report["requests"] == sum(len(failures) + 1 for _, failures in replies)
    outcomes = report["outcomes"]
    assert statistics.retries == {
        "429": outcomes["429"],
        "500": outcomes["500"],
        "reset": outcomes["reset"],
        "timeout": outcomes["stall"],
        "truncated": outcomes["truncated"] + outcomes["half"],
    }
    assert report["peak"] <= 50
    assert statistics.retries.total() > 60


def test_a_server_that_bears_ten_requests_at_once_is_not_flooded(model_server: Any) -> None:
    model_server.program(ceiling=10, latency=0.02)
    statistics = CallStatistics()
    replies = asyncio.run(ask_server(model_server.url, statistics, 200, concurrency=64))
    assert len(replies) == 200
    assert statistics.requests == 200 + statistics.retries["429"]
    # Without back-off each of the 200 would be refused several times.
    assert statistics.retries["429"] < 200


def test_a_server_that_is_restarted_half_way_loses_no_sample() -> None:
    statistics = CallStatistics()

    async def main() -> list[Answered]:
        with serving() as server:
            server.program(latency=0.1)
            asking = asyncio.create_task(ask_server(server.url, statistics, 100, concurrency=10))
            while statistics.replies < 30:  # noqa: ASYNC110 - counts raise no event
                await asyncio.sleep(0.01)
        while not statistics.retries["unreachable"]:  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.01)
        with serving(server.port):
            return await asking

    assert len(asyncio.run(main())) == 100
    assert statistics.errors.total() == 0


def test_the_limits_in_a_spec_are_those_of_its_gateway() -> None:
    provider = ScriptedProvider(lambda *_: late(5))

    async def late(seconds: float) -> Reply:
        await asyncio.sleep(seconds)
        return reply()

    async def main() -> tuple[int, float]:
        spec = parse_spec("openai/m,concurrency=2,timeout=6", folder=Path())
        gateway = Gateway.of(spec, provider, budget=Budget(), concurrency=50)
        start = asyncio.get_running_loop().time()
        await asyncio.gather(*(gateway.ask(request(f"q{i}"), Ticket(i)) for i in range(6)))
        return gateway.statistics.peak_in_flight, asyncio.get_running_loop().time() - start

    peak, seconds = run(main())
    assert peak == 2
    assert seconds == pytest.approx(15, abs=0.1)

    async def impatient() -> None:
        spec = parse_spec("openai/m,timeout=2", folder=Path())
        gateway = Gateway.of(spec, provider, budget=Budget(), concurrency=50)
        with pytest.raises(ProviderError, match=r"no reply within 2 s \(its spec's timeout=\)"):
            await gateway.ask(request("q"), Ticket(0))

    run(impatient())

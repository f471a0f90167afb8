"""Requests to the run's models: one call for equal ones, stored before anyone sees the reply."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest
from engine.requests_and_replies import MODEL, reply, request, stored
from engine.virtual_time import run

from pytest_llmeval.engine.budget import Budget
from pytest_llmeval.engine.gateway import Gateway
from pytest_llmeval.engine.limits import Limiter
from pytest_llmeval.engine.models import Answer, Gauge, Models
from pytest_llmeval.engine.replies import Recorder, ReplyStore, StoredReply, read_recording
from pytest_llmeval.engine.specs import ModelSpec
from pytest_llmeval.engine.statistics import CallStatistics
from pytest_llmeval.engine.tickets import Ticket
from pytest_llmeval.errors import ModelLost, ProviderError, RunStopped, UsageError
from pytest_llmeval.records import Reply, Request


class SlowProvider:
    """Answers after a second; prompts of "fail" and "again" and their kin fail then."""

    def __init__(self) -> None:
        """Begin with nothing asked."""
        self.asked: list[str] = []
        self.closed = False

    async def send(self, request: Request) -> Reply:
        prompt = request.messages[-1].text
        self.asked.append(prompt)
        await asyncio.sleep(1)
        if prompt.startswith("again"):
            raise ProviderError(prompt, reach="attempt", cause="reset")
        if prompt.startswith("fail"):
            raise ProviderError(prompt, reach="model" if prompt == "fail model" else "sample")
        return reply(prompt.upper())

    async def close(self) -> None:
        self.closed = True


class Bench:
    """The run's models with one slow provider behind them."""

    def __init__(
        self,
        *,
        concurrency: int = 10,
        store: ReplyStore | None = None,
        record: Path | None = None,
    ) -> None:
        """Open the store and the recorder."""
        self.provider = SlowProvider()
        self.concurrency = concurrency
        self.store = store or ReplyStore(None)
        keeper = Recorder(record) if record else None
        self.models = Models(self.open_gateway, self.store, keeper=keeper)

    def open_gateway(self, spec: ModelSpec) -> Gateway:
        if spec.name == "no-key":
            msg = "no key"
            raise UsageError(msg)
        statistics = CallStatistics()
        limits = Limiter(self.concurrency, statistics=statistics)
        return Gateway(
            self.provider,
            name=spec.label,
            limits=limits,
            budget=Budget(),
            timeout=60,
            statistics=statistics,
            jitter=lambda: 1.0,
        )

    def run(self, main: Coroutine[Any, Any, None]) -> None:
        """Run in virtual time, and close the store."""
        try:
            run(main)
        finally:
            self.store.close()

    def ask(self, prompt: str, order: int = 0) -> asyncio.Task[Answer]:
        return asyncio.create_task(self.models.ask(MODEL, request(prompt), Ticket(order)))


def test_equal_requests_in_flight_are_one_call() -> None:
    bench = Bench()

    async def main() -> None:
        answers = await asyncio.gather(*(bench.ask("a") for _ in range(20)))
        assert {answer.reply.text for answer in answers} == {"A"}

    bench.run(main())
    assert bench.provider.asked == ["a"]


def test_a_request_asked_again_comes_from_the_store_and_says_so() -> None:
    bench = Bench()

    async def main() -> None:
        first, again = await bench.ask("a"), await bench.ask("a")
        assert (first.cached, first.age, first.attempts) == (False, None, 1)
        assert (again.cached, again.attempts) == (True, 0)
        assert again.age is not None
        assert again.age >= 0
        assert again.reply == first.reply

    bench.run(main())
    assert bench.provider.asked == ["a"]


def test_only_replies_of_earlier_sessions_count_as_from_the_store() -> None:
    store = ReplyStore(None)
    earlier = StoredReply.of(request("a"), reply("then", created=1.7e9))
    store.put(request("a").key, earlier)
    bench = Bench(store=store)
    bench.models = Models(bench.open_gateway, store, started=1e9)

    async def main() -> None:
        for prompt in ("a", "b", "b", "b"):
            await bench.ask(prompt)
        assert bench.models.effort.from_store == 1
        assert bench.models.effort.total.requests == 1

    bench.run(main())


def test_a_reply_is_stored_before_the_event_loop_does_anything_else() -> None:
    bench = Bench()
    seen: list[bool] = []

    class Prompt(SlowProvider):
        async def send(self, request: Request) -> Reply:
            answer = await super().send(request)
            stored = bench.store.get
            asyncio.get_running_loop().call_soon(
                lambda: seen.append(stored(request.key) is not None)
            )
            return answer

    bench.provider = Prompt()

    async def main() -> None:
        await asyncio.gather(*(bench.ask(f"q{n}") for n in range(20)))

    bench.run(main())
    assert seen == [True] * 20


def test_when_the_first_asker_is_cancelled_the_second_still_gets_the_reply() -> None:
    bench = Bench()

    async def main() -> None:
        first, second = bench.ask("a"), bench.ask("a")
        await asyncio.sleep(0.5)
        first.cancel()
        assert (await second).reply.text == "A"

    bench.run(main())
    assert bench.provider.asked == ["a"]


def test_a_call_whose_asker_is_cancelled_reaches_the_store() -> None:
    bench = Bench()

    async def main() -> None:
        asking = bench.ask("a")
        await asyncio.sleep(0.5)
        asking.cancel()
        await asyncio.sleep(1)
        assert bench.store.get(request("a").key) is not None

    bench.run(main())


def test_a_sample_that_asks_the_same_twice_at_once_waits_until_the_second_gives_up() -> None:
    bench = Bench(concurrency=1)

    async def main() -> None:
        busy, ticket = bench.ask("busy"), Ticket(1)
        first, second = (
            asyncio.create_task(bench.models.ask(MODEL, request("a"), ticket)) for _ in range(2)
        )
        await asyncio.sleep(0.5)
        first.cancel()
        assert (await second).reply.text == "A"
        await busy

    bench.run(main())


def test_a_request_in_the_queue_is_not_sent_once_nobody_waits_for_it() -> None:
    bench = Bench(concurrency=1)

    async def main() -> None:
        first, second, third = bench.ask("a"), bench.ask("b", 1), bench.ask("c", 2)
        await asyncio.sleep(0.5)
        second.cancel()
        await asyncio.gather(first, third)
        # Whoever asks at the moment in which it is given up has it sent after all.
        late, again = bench.ask("d", 3), bench.ask("e", 4)
        await asyncio.sleep(0.5)
        again.cancel()
        await asyncio.sleep(0)
        assert (await bench.ask("e")).reply.text == "E"
        await late

    bench.run(main())
    assert bench.provider.asked == ["a", "c", "d", "e"]


def test_a_failed_attempt_is_not_repeated_once_nobody_waits_for_it() -> None:
    bench = Bench()

    async def main() -> None:
        asking = bench.ask("again")
        await asyncio.sleep(0.5)
        asking.cancel()
        waiting = bench.ask("again, waited for")
        await asyncio.sleep(1.2)
        # Between two attempts.
        waiting.cancel()
        await asyncio.sleep(600)

    bench.run(main())
    assert bench.provider.asked == ["again", "again, waited for"]
    statistics = bench.models.effort.total
    assert statistics.requests == statistics.abandoned + statistics.retries.total() == 2


def test_the_reply_is_stored_before_anyone_sees_it() -> None:
    asking: asyncio.Task[Answer]

    class Watched(ReplyStore):
        def put(self, key: str, stored: StoredReply) -> None:
            assert not asking.done()
            super().put(key, stored)
            keys.append(key)

    keys: list[str] = []
    bench = Bench(store=Watched(None))

    async def main() -> None:
        nonlocal asking
        asking = bench.ask("a")
        await asking
        assert keys == [request("a").key]

    bench.run(main())


def test_a_failure_is_told_to_all_who_asked_and_asked_anew_later() -> None:
    bench = Bench()

    async def main() -> None:
        outcomes = await asyncio.gather(
            bench.ask("fail"), bench.ask("fail"), return_exceptions=True
        )
        assert [str(outcome) for outcome in outcomes] == ["fail", "fail"]
        with pytest.raises(ProviderError):
            await bench.ask("fail")

    bench.run(main())
    assert bench.provider.asked == ["fail", "fail"]


def test_who_becomes_urgent_hurries_the_call_it_shares() -> None:
    bench = Bench(concurrency=1)

    async def main() -> None:
        late = Ticket(order=9)
        askings = [bench.ask(f"q{number}", number) for number in range(3)]
        askings.append(bench.ask("shared", 8))
        askings.append(asyncio.create_task(bench.models.ask(MODEL, request("shared"), late)))
        await asyncio.sleep(0.5)
        late.urgent = True
        await asyncio.gather(*askings)

    bench.run(main())
    assert bench.provider.asked == ["q0", "shared", "q1", "q2"]


def test_a_model_that_failed_for_good_or_could_not_be_opened_is_lost() -> None:
    bench = Bench()
    keyless = ModelSpec(kind="openai", name="no-key", label="openai/no-key")

    async def main() -> None:
        with pytest.raises(ProviderError):
            await bench.ask("fail")
        assert bench.models.lost == {}
        with pytest.raises(ProviderError):
            await bench.ask("fail model")
        assert bench.models.lost == {MODEL: "fail model"}
        with pytest.raises(ModelLost, match="fail model"):
            await bench.ask("a")
        with pytest.raises(UsageError, match="no key"):
            await bench.models.ask(keyless, request("a"), Ticket(0))
        assert bench.models.lost == {MODEL: "fail model", keyless: "no key"}

    bench.run(main())


def test_a_store_that_takes_nothing_more_stops_the_run() -> None:
    class Full(ReplyStore):
        def put(self, key: str, stored: StoredReply) -> None:  # noqa: ARG002 - as the store has it
            msg = "database or disk is full"
            raise sqlite3.OperationalError(msg)

    bench = Bench(store=Full(None))

    async def main() -> None:
        with pytest.raises(
            RunStopped, match="replies cannot be written any more: database or disk is full"
        ):
            await bench.ask("a")

    bench.run(main())


def test_closing_cancels_what_is_in_flight_and_closes_everything(tmp_path: Path) -> None:
    bench = Bench(record=tmp_path / "replies.jsonl")

    async def main() -> None:
        await bench.ask("a")
        asking = bench.ask("b")
        await asyncio.sleep(0.5)
        await bench.models.close()
        with pytest.raises(asyncio.CancelledError):
            await asking

    bench.run(main())
    assert bench.provider.closed
    assert [line.reply.text for line in read_recording(tmp_path / "replies.jsonl")] == ["A"]
    with pytest.raises(sqlite3.ProgrammingError):
        bench.store.get("a")


def test_closing_keeps_the_replies_that_come_in_time_and_sends_nothing_more() -> None:
    bench = Bench(concurrency=3)
    kept: list[str] = []

    class Kept(ReplyStore):
        def put(self, key: str, stored: StoredReply) -> None:
            kept.append(stored.reply.text)
            super().put(key, stored)

    bench.models = Models(bench.open_gateway, Kept(None))

    async def main() -> None:
        askings = [
            bench.ask(prompt, order) for order, prompt in enumerate(["a", "b", "again", "queued"])
        ]
        await asyncio.sleep(0.5)
        start = asyncio.get_running_loop().time()
        await bench.models.close(grace=30)
        assert asyncio.get_running_loop().time() - start == pytest.approx(0.5, abs=0.1)
        with pytest.raises(RunStopped):
            await bench.ask("late")
        await asyncio.gather(*askings, return_exceptions=True)

    bench.run(main())
    assert sorted(kept) == ["A", "B"]
    assert bench.provider.asked == ["a", "b", "again"]


def test_closing_waits_no_longer_than_it_is_told_or_than_somebody_has_patience() -> None:
    async def waited(*, grace: float, hurried: float | None) -> float:
        bench = Bench()
        asking = bench.ask("a")
        await asyncio.sleep(0.1)
        loop = asyncio.get_running_loop()
        start = loop.time()
        if hurried is not None:
            loop.call_later(hurried, bench.models.cancel)
        await bench.models.close(grace=grace)
        await asyncio.gather(asking, return_exceptions=True)
        return loop.time() - start

    assert run(waited(grace=0.5, hurried=None)) == pytest.approx(0.5, abs=0.1)
    assert run(waited(grace=30, hurried=0.3)) == pytest.approx(0.3, abs=0.1)


def test_a_recording_also_holds_what_came_from_the_store(tmp_path: Path) -> None:
    store = ReplyStore(None)
    store.put(request("a").key, stored(request("a"), "stored"))
    bench = Bench(store=store, record=tmp_path / "replies.jsonl")

    async def main() -> None:
        await asyncio.gather(bench.ask("a"), bench.ask("b"))
        await bench.models.close()

    bench.run(main())
    assert {line.reply.text for line in read_recording(tmp_path / "replies.jsonl")} == {
        "stored",
        "B",
    }


def test_the_gauge_tells_what_is_in_flight_and_what_was_used() -> None:
    bench = Bench()

    async def main() -> None:
        askings = [bench.ask(f"q{number}") for number in range(3)]
        await asyncio.sleep(0.5)
        assert bench.models.gauge.in_flight == 3
        await asyncio.gather(*askings)
        assert bench.models.gauge.in_flight == 0
        assert bench.models.gauge.usage.total_tokens == 45
        assert (bench.models.gauge.replies, bench.models.gauge.retries) == (3, 0)

    bench.run(main())


def test_the_gauge_counts_retries() -> None:
    bench, sent = Bench(), []

    class Busy(SlowProvider):
        async def send(self, request: Request) -> Reply:
            sent.append(request)
            if len(sent) < 3:
                msg = "busy"
                raise ProviderError(msg, reach="attempt", cause="reset")
            return await super().send(request)

    bench.provider = Busy()

    async def main() -> None:
        await bench.ask("q")
        assert (bench.models.gauge.replies, bench.models.gauge.retries) == (1, 2)

    bench.run(main())


def test_the_gauge_counts_no_usage_of_recordings_which_cost_nothing() -> None:
    bench = Bench()
    recorded = ModelSpec(kind="replay", name="/r.jsonl", label="recorded")

    async def main() -> None:
        await bench.models.ask(recorded, request("q"), Ticket(0))
        assert bench.models.gauge == Gauge()

    bench.run(main())


class Kept:
    """A keeper that notes what it gets."""

    def __init__(self) -> None:
        """Begin with nothing kept."""
        self.live: dict[str, bool] = {}
        self.closed = False

    def keep(self, stored: StoredReply, *, live: bool) -> None:
        self.live[stored.reply.text] = live

    def close(self) -> None:
        self.closed = True


class OtherRun:
    """A source with a reply to "old" from long ago."""

    def __init__(self) -> None:
        """Begin with nothing asked."""
        self.asked: list[str] = []
        self.made = 1e9
        self.closed = False

    def find(self, request: Request) -> StoredReply | None:
        self.asked.append(prompt := request.messages[-1].text)
        found = StoredReply.of(request, reply("from long ago", created=self.made))
        return found if prompt == "old" else None

    def close(self) -> None:
        self.closed = True


def test_replies_of_other_runs_go_before_calls_and_into_the_runs_own_store() -> None:
    bench, source, keeper = Bench(), OtherRun(), Kept()
    bench.models = Models(
        bench.open_gateway,
        bench.store,
        source=source,
        keeper=keeper,
        endpoints={"openai": "http://x"},
        started=2e9,
    )

    async def main() -> None:
        old, new = await bench.ask("old"), await bench.ask("new")
        assert (old.reply.text, old.cached, old.other_run, old.attempts) == (
            "from long ago",
            True,
            True,
            0,
        )
        assert old.age is not None
        assert old.age > 1e8
        assert (new.reply.text, new.cached, new.other_run) == ("NEW", False, False)
        assert (await bench.ask("old")).other_run
        stored = [bench.store.get(request(prompt).key) for prompt in ("old", "new")]
        assert [(one.created > 1e9, one.endpoint) for one in stored if one] == [
            (False, ""),
            (True, "http://x"),
        ]
        await bench.models.close()

    bench.run(main())
    assert bench.provider.asked == ["new"]
    assert source.asked == ["old", "new"]
    assert keeper.live == {"from long ago": False, "NEW": True}
    assert bench.models.effort.from_cache == 2
    assert source.closed
    assert keeper.closed


@pytest.mark.parametrize("hours", [-7, 7])
def test_whose_reply_it_is_does_not_depend_on_the_clock(
    monkeypatch: pytest.MonkeyPatch, hours: int
) -> None:
    bench, source = Bench(), OtherRun()
    started = time.time()
    bench.models = Models(bench.open_gateway, bench.store, source=source, started=started)
    # The other run, or this one since it began, had its clock off.
    source.made = started + hours * 3600
    monkeypatch.setattr("time.time", lambda: started - hours * 3600)

    async def main() -> None:
        assert (await bench.ask("old")).other_run
        assert not (await bench.ask("new")).other_run
        # A session that resumes the run goes by what is stored.
        bench.models = Models(bench.open_gateway, bench.store, started=started)
        assert (await bench.ask("old")).other_run
        assert not (await bench.ask("new")).other_run

    bench.run(main())
    assert bench.provider.asked == ["new"]


@pytest.mark.parametrize("only", [False, True])
def test_another_runs_replies_answer_for_a_recording_only_if_nothing_is_sent(
    only: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    bench, keeper = Bench(), Kept()
    bench.models = Models(
        bench.open_gateway, bench.store, source=OtherRun(), keeper=keeper, only_stored=only
    )
    recorded = ModelSpec(kind="replay", name="/r.jsonl", label="recorded")

    async def main() -> None:
        answer = await bench.models.ask(recorded, request("old"), Ticket(0))
        assert answer.reply.text == ("from long ago" if only else "OLD")

    bench.run(main())
    assert not any(keeper.live.values())

"""The engine's thread: it starts with the first wish, ends when told, and answers every wish."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from typing import Any, cast

import pytest

from pytest_llmeval.engine.engine import Engine
from pytest_llmeval.engine.link import DirectLink
from pytest_llmeval.engine.run import Run
from pytest_llmeval.engine.solved import Solved
from pytest_llmeval.errors import LLMEvalError, RunStopped, UsageError
from pytest_llmeval.records import Completion, Json

SOLVED: Json = {"completion": {"text": "also there", "details": {"a": [1, {"b": None}]}}}


class FakeRun:
    """Answers by a coroutine function of the wish, in the engine's loop, as `Run` would."""

    def __init__(self, answer: Callable[[str], Any]) -> None:
        """Take the function."""
        self.reply = answer
        self.discarded: list[str] = []
        self.closed: list[str] = []
        self.threads: set[str] = set()
        self.solved: dict[str, Solved] = {}
        self.asked: list[str] = []

    def take(self, nodeid: str) -> Solved | None:
        return self.solved.get(nodeid)

    def taken(self, worker: str, nodeid: str) -> None:
        self.threads.add(threading.current_thread().name)
        self.asked.append(f"{worker} {nodeid}")

    def was_asked(self, nodeid: str) -> bool:
        return nodeid in self.solved

    async def answer(self, _: str, want: str, __: dict[str, Any]) -> Any:
        self.threads.add(threading.current_thread().name)
        return await self.reply(want)

    def discard(self, nodeid: str) -> None:
        self.threads.add(threading.current_thread().name)
        self.discarded.append(nodeid)

    async def close(self, reason: str, *, grace: float) -> None:
        assert grace == 0
        self.closed.append(reason)


async def echo(want: str) -> str:
    return want


Open = Callable[..., tuple[Engine, FakeRun]]


@pytest.fixture
def opened() -> Iterator[Open]:
    """Make engines that are stopped at the end."""
    engines: list[Engine] = []

    def make(answer: Callable[[str], Any] = echo) -> tuple[Engine, FakeRun]:
        run = FakeRun(answer)
        engines.append(Engine(lambda: cast("Run", run)))
        return engines[-1], run

    yield make
    for engine in engines:
        engine.stop("end of the test")


def test_nothing_starts_before_the_first_wish(opened: Open) -> None:
    before = threading.active_count()
    engine, run = opened()
    engine.discard("a")
    engine.stop("over")
    assert not engine.started
    assert threading.active_count() == before
    assert run.closed == []
    with pytest.raises(RunStopped, match="over"):
        engine.ask("", "completion", {})


def test_wishes_are_answered_in_the_engines_thread(opened: Open) -> None:
    engine, run = opened()
    assert [engine.ask("", name, {}).result(10) for name in "abc"] == ["a", "b", "c"]
    assert engine.started
    assert run.threads == {"llmeval"}


def test_tests_that_were_over_before_the_first_wish_are_discarded_with_it(opened: Open) -> None:
    engine, run = opened()
    engine.discard("a")
    engine.discard("b")
    engine.ask("", "c", {}).result(10)
    engine.discard("d")
    engine.ask("", "e", {}).result(10)
    assert run.discarded == ["a", "b", "d"]
    assert run.threads == {"llmeval"}


def test_a_test_that_is_over_while_the_run_opens_is_discarded_too() -> None:
    begun, go_on = threading.Event(), threading.Event()
    run = FakeRun(echo)

    def open_run() -> Run:
        begun.set()
        assert go_on.wait(10)
        return cast("Run", run)

    engine = Engine(open_run)
    asked = engine.ask("", "a", {})
    assert begun.wait(10)
    engine.discard("over meanwhile")
    go_on.set()
    assert asked.result(10) == "a"
    engine.ask("", "b", {}).result(10)
    assert run.discarded == ["over meanwhile"]
    engine.stop("over")


def test_a_sample_that_is_solved_is_had_while_the_loop_is_busy(opened: Open) -> None:
    busy, go_on = threading.Event(), threading.Event()

    async def block(_: str) -> None:
        busy.set()
        assert go_on.wait(10)

    engine, run = opened(block)
    engine.ask("", "anything", {})
    assert busy.wait(10)
    run.solved = {"a": Solved(completion=Completion(text="there")), "b": Solved.from_json(SOLVED)}
    for nodeid in ("a", "b"):
        answer = engine.ask("gw1", "completion", {"nodeid": nodeid})
        assert answer.done()
        assert Solved.of(answer.result()) == run.solved[nodeid]
        engine.discard(nodeid)  # has no effect any more
    engine.discard("c")
    assert run.asked == []
    go_on.set()
    engine.stop("over")
    assert run.asked == ["gw1 a", "gw1 b"]
    assert run.discarded == ["c"]
    assert run.threads == {"llmeval"}


def test_a_sample_that_is_solved_is_not_had_after_the_end(opened: Open) -> None:
    engine, run = opened()
    engine.ask("", "a", {}).result(10)
    run.solved = {"a": Solved(completion=Completion(text="there"))}
    engine.end("enough")
    with pytest.raises(RunStopped, match="enough"):
        engine.ask("", "completion", {"nodeid": "a"})


def test_many_threads_may_ask_at_once_and_open_one_run() -> None:
    runs: list[FakeRun] = []

    def open_run() -> Run:
        runs.append(FakeRun(echo))
        return cast("Run", runs[-1])

    engine = Engine(open_run)
    answers: list[Any] = []
    threads = [
        threading.Thread(
            target=lambda n=n: answers.append(engine.ask(f"gw{n}", str(n), {}).result(10))
        )
        for n in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert sorted(answers, key=int) == [str(n) for n in range(20)]
    assert len(runs) == 1
    engine.stop("over")


def test_stopping_closes_the_run_and_ends_the_thread(opened: Open) -> None:
    engine, run = opened()
    engine.ask("", "a", {}).result(10)
    engine.stop("enough")
    engine.stop("again")
    assert run.closed == ["enough"]
    assert "llmeval" not in {thread.name for thread in threading.enumerate()}
    engine.discard("late")
    with pytest.raises(RunStopped, match="enough"):
        engine.ask("", "b", {})


def test_who_waits_when_the_engine_stops_is_told_so(opened: Open) -> None:
    waiting = threading.Event()

    async def never(_: str) -> None:
        waiting.set()
        await asyncio.Event().wait()

    engine, _ = opened(never)

    def stop_when_waited_for() -> None:
        waiting.wait(10)
        engine.stop("enough")

    stopping = threading.Thread(target=stop_when_waited_for)
    stopping.start()
    with pytest.raises(RunStopped):
        DirectLink(engine).send("a", {}).result()
    stopping.join(10)


@pytest.mark.parametrize(
    ("failure", "told"),
    [
        (UsageError("--llmeval-keep: no such folder"), "--llmeval-keep: no such folder"),
        (PermissionError(13, "Permission denied"), "the run could not be started: PermissionError"),
    ],
    ids=["ours", "unforeseen"],
)
def test_a_run_that_cannot_be_opened_is_told_once_and_stops_the_rest(
    failure: Exception, told: str
) -> None:
    attempts: list[int] = []

    def open_run() -> Run:
        attempts.append(1)
        raise failure

    engine = Engine(open_run)
    with pytest.raises(LLMEvalError, match=told) as caught:
        engine.ask("", "a", {}).result(10)
    assert not isinstance(caught.value, RunStopped)
    with pytest.raises(RunStopped, match=told):
        engine.ask("", "b", {})
    assert attempts == [1]
    engine.stop("over")


def test_whoever_waits_is_freed_when_something_ends_the_loop(opened: Open) -> None:
    async def vanish(want: str) -> None:
        if want == "end":
            asyncio.get_running_loop().stop()
        await asyncio.Event().wait()

    engine, _ = opened(vanish)
    waiting = engine.ask("", "wait", {})
    engine.ask("", "end", {})
    with pytest.raises(CancelledError):
        waiting.result(10)
    with pytest.raises(RunStopped, match="the engine's thread ended"):
        engine.ask("", "more", {})

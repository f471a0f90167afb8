"""The line between tests and engine, over pairs of channels in memory with execnet's threads."""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval.engine.link import ControllerLink, DirectLink, WorkerLink
from pytest_llmeval.engine.plan import Plan, PlannedTest
from pytest_llmeval.engine.solved import Solved
from pytest_llmeval.errors import (
    LLMEvalError,
    ProviderError,
    RunStopped,
    ScorerError,
    TaskError,
    ToolError,
    UsageError,
)
from pytest_llmeval.records import Completion


class End:
    """One end of a channel; the other end's callback gets what it sends, in a thread."""

    def __init__(self) -> None:
        """Make an end that is not connected yet."""
        self.other: End
        self.items: queue.Queue[object] = queue.Queue()
        self.closed = False
        self.receiver: threading.Thread | None = None

    def send(self, item: object, /) -> None:
        assert type(item) is str
        if self.closed:
            msg = "cannot send (already closed?)"
            raise OSError(msg)
        self.other.items.put(item)

    def setcallback(
        self, callback: Callable[[object], object], endmarker: object = "no end"
    ) -> None:
        def receive() -> None:
            while (item := self.items.get()) is not None:
                try:
                    callback(item)
                except Exception:  # noqa: BLE001 - as execnet: it ends the channel
                    self.close()
                finally:
                    self.items.task_done()
            if endmarker != "no end":
                callback(endmarker)

        self.receiver = threading.Thread(target=receive, daemon=True)
        self.receiver.start()

    def close(self) -> None:
        """End the line for both."""
        for end in (self, self.other):
            end.closed = True
            end.items.put(None)


class Echo:
    """An engine that answers by a function of the wish."""

    def __init__(self, answer: Callable[[dict[str, Any]], Any]) -> None:
        """Take the function; a Future it returns is passed on."""
        self.answer = answer
        self.workers: set[str] = set()

    def ask(self, worker: str, want: str, arguments: dict[str, Any]) -> Future[Any]:
        self.workers.add(worker)
        future = Future[Any]()
        try:
            outcome = self.answer({"want": want, **arguments})
        except ZeroDivisionError as error:
            future.set_exception(error)
        except LLMEvalError as error:
            if str(error) == "refused at the door":
                raise
            future.set_exception(error)
        else:
            if isinstance(outcome, Future):
                return outcome
            future.set_result(outcome)
        return future


lines: dict[WorkerLink, End] = {}
"""Each worker's end of its line."""

Connect = Callable[[ControllerLink, str], WorkerLink]


@pytest.fixture
def connect() -> Iterator[Connect]:
    """Connect a worker to a controller; the lines are cut at the end."""
    ends: list[End] = []
    lines.clear()

    def connect(controller: ControllerLink, worker: str) -> WorkerLink:
        here, there = End(), End()
        here.other, there.other = there, here
        ends.append(here)
        here.setcallback(lambda item: controller.receive(worker, here, str(item)))
        link = WorkerLink(there)
        lines[link] = there
        return link

    yield connect
    for end in ends:
        end.close()
        for side in (end, end.other):
            assert side.receiver is not None
            side.receiver.join(10)


def settled(link: WorkerLink) -> None:
    """Wait until the controller took all that the worker sent."""
    lines[link].other.items.join()


def plan(*samples: str, digest: str = "d") -> Plan:
    tests = tuple(PlannedTest(f"t[{s}]", "t", "/task.yaml", "task", s, "", 1) for s in samples)
    return Plan(tests=tests, tasks=(("/task.yaml", "task", digest),))


def test_an_answer_comes_back_to_the_worker_that_asked(connect: Connect) -> None:
    engine = Echo(lambda wish: wish)
    controller = ControllerLink(engine, lambda _: None)
    one, two = connect(controller, "gw0"), connect(controller, "gw1")
    assert one.send("completion", {"nodeid": "a"}).result() == {"want": "completion", "nodeid": "a"}
    assert two.send("judge", {"nodeid": "\ud800 \u2028"}).result() == {
        "want": "judge",
        "nodeid": "\ud800 \u2028",
    }
    assert engine.workers == {"gw0", "gw1"}


def test_answers_may_overtake_each_other(connect: Connect) -> None:
    futures = {name: Future[Any]() for name in "abc"}
    link = connect(
        ControllerLink(Echo(lambda wish: futures[wish["nodeid"]]), lambda _: None), "gw0"
    )
    answers: dict[str, Any] = {}

    def ask(name: str) -> None:
        answers[name] = link.send("completion", {"nodeid": name}).result()

    threads = [threading.Thread(target=ask, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for name in "cab":
        futures[name].set_result(name.upper())
    for thread in threads:
        thread.join(10)
    assert answers == {"a": "A", "b": "B", "c": "C"}


@pytest.mark.parametrize(
    "error",
    [
        ProviderError("HTTP 500", reach="model", status=500, retry_after=2.0, cause="500"),
        ToolError("no database"),
        TaskError("is missing", file=Path("task.yaml"), line=3, key="dataset"),
        ScorerError("broke"),
        UsageError("no key"),
        RunStopped("budget"),
        LLMEvalError("something else"),
        LLMEvalError("refused at the door"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_crosses_as_its_class_with_all_it_says(
    connect: Connect, error: LLMEvalError
) -> None:
    def fail(_: object) -> None:
        raise error

    link = connect(ControllerLink(Echo(fail), lambda _: None), "gw0")
    with pytest.raises(type(error)) as caught:
        link.send("completion", {}).result()
    assert type(caught.value) is type(error)
    assert str(caught.value) == str(error)
    assert vars(caught.value) == vars(error)


def test_an_error_of_another_kind_crosses_by_name(connect: Connect) -> None:
    link = connect(ControllerLink(Echo(lambda _: 1 // 0), lambda _: None), "gw0")
    with pytest.raises(LLMEvalError, match="ZeroDivisionError: integer division"):
        link.send("completion", {}).result()


def test_a_solved_sample_is_had_as_it_is_in_one_process_and_equal_in_another(
    connect: Connect,
) -> None:
    solved = Solved(completion=Completion(text="é \ud800"), judges={"exact": ("openai/j",)})
    engine = Echo(lambda _: solved)
    assert DirectLink(engine).send("completion", {}).result() is solved
    link = connect(ControllerLink(engine, lambda _: None), "gw0")
    travelled = link.send("completion", {}).result()
    assert isinstance(travelled, dict)
    assert Solved.of(travelled) == Solved.of(solved) == solved


def test_an_answer_that_was_cancelled_is_a_stopped_run(connect: Connect) -> None:
    cancelled = Future[Any]()
    cancelled.cancel()
    engine = Echo(lambda _: cancelled)
    with pytest.raises(RunStopped):
        connect(ControllerLink(engine, lambda _: None), "gw0").send("completion", {}).result()
    with pytest.raises(RunStopped):
        DirectLink(engine).send("completion", {}).result()


def test_the_first_workers_plan_travels_whole_and_equal_digests_may_ask(connect: Connect) -> None:
    taken: list[Plan] = []
    controller = ControllerLink(Echo(lambda _: "yes"), taken.append)
    one, two = connect(controller, "gw0"), connect(controller, "gw1")
    one.announce(plan("a", "b"), whole=True)
    two.announce(plan("a", "b"), whole=False)
    settled(one)
    settled(two)
    assert one.send("completion", {}).result() == "yes"
    assert two.send("completion", {}).result() == "yes"
    assert taken == [plan("a", "b")]


@pytest.mark.parametrize(
    "other",
    [plan("b", "a"), plan("a"), plan("a", "b", digest="changed"), plan()],
    ids=["order", "count", "data", "none"],
)
def test_nobody_may_ask_while_one_worker_collected_otherwise(connect: Connect, other: Plan) -> None:
    engine = Echo(lambda _: "yes")
    controller = ControllerLink(engine, lambda _: None)
    one, two = connect(controller, "gw0"), connect(controller, "gw1")
    one.announce(plan("a", "b"), whole=True)
    two.announce(other, whole=False)
    settled(one)
    settled(two)
    for link in (one, two):
        with pytest.raises(
            UsageError, match="worker gw1 collected other samples than the first worker"
        ):
            link.send("completion", {}).result()
    assert engine.workers == set()


def test_nobody_may_ask_without_the_first_workers_plan(connect: Connect) -> None:
    controller = ControllerLink(Echo(lambda _: "yes"), lambda _: None)
    link = connect(controller, "gw1")
    link.announce(plan("a"), whole=False)
    with pytest.raises(UsageError, match="worker gw1 collected other samples"):
        link.send("completion", {}).result()


def test_workers_without_samples_may_ask_for_a_judge(connect: Connect) -> None:
    link = connect(ControllerLink(Echo(lambda _: "yes"), lambda _: None), "gw1")
    assert link.send("judge", {}).result() == "yes"


def test_who_waits_when_the_line_ends_is_told_so_and_so_is_who_asks_after(connect: Connect) -> None:
    def vanish(_: object) -> Future[Any]:
        lines[link].close()
        return Future()

    link = connect(ControllerLink(Echo(vanish), lambda _: None), "gw0")
    with pytest.raises(RunStopped, match="the controller is gone"):
        link.send("completion", {}).result()
    with pytest.raises(RunStopped, match="the controller is gone"):
        link.send("completion", {}).result()
    with pytest.raises(RunStopped, match="the controller is gone"):
        link.announce(plan("a"), whole=True)


def test_an_answer_for_a_worker_that_died_is_dropped(connect: Connect) -> None:
    answer = Future[Any]()
    link = connect(ControllerLink(Echo(lambda _: answer), lambda _: None), "gw0")

    def ask() -> None:
        with pytest.raises(RunStopped):
            link.send("completion", {}).result()

    asking = threading.Thread(target=ask)
    asking.start()
    lines[link].close()
    asking.join(10)
    answer.set_result("late")
    assert not asking.is_alive()


def test_a_completion_of_many_megabytes_gets_through(connect: Connect) -> None:
    link = connect(ControllerLink(Echo(lambda wish: wish), lambda _: None), "gw0")
    text = "x\u00e9" * 2_000_000
    assert link.send("completion", {"text": text}).result() == {"want": "completion", "text": text}


def test_frames_are_ascii_json() -> None:
    here, there = End(), End()
    here.other, there.other = there, here
    link = WorkerLink(here)
    link.announce(plan("é"), whole=True)
    frame = there.items.get()
    assert isinstance(frame, str)
    assert frame.isascii()
    assert Plan.from_json(json.loads(frame)["plan"]) == plan("é")
    here.close()

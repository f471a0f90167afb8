"""The line between tests and engine: a call in one process, JSON text frames over an execnet channel under xdist.

Frames of a worker: ``{"plan": ..}`` (the first worker), ``{"digest": ..}`` (the others), ``{"id",
"want", "with"}``. Frames to a worker: ``{"id", "ok"}`` or ``{"id", "error": {"kind", "message",
"fields"}}``.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from typing import Protocol, cast

from pytest_llmeval.engine.plan import Plan
from pytest_llmeval.errors import (
    LLMEvalError,
    RunStopped,
    UsageError,
    error_from_json,
    error_to_json,
)
from pytest_llmeval.records import Json

_NO_PLAN = Plan(tests=(), tasks=())
"""What a worker without samples collected: it announces nothing."""

_PATIENCE = 0.5
"""Seconds of waiting after which, again and again, whoever wants to show something may."""

_CUT_OFF = "the engine ended before it answered"


class Channel(Protocol):
    """What is used of an execnet channel."""

    def send(self, item: object, /) -> None:
        """Send one item; OSError when the other end is gone."""
        ...

    def setcallback(self, callback: Callable[[object], object], endmarker: object = ...) -> None:
        """Call back for every item, in the receiver's thread, and once with `endmarker` at the end."""
        ...


class Link(Protocol):
    """A test's way to the engine."""

    def ask(self, want: str, arguments: dict[str, Json]) -> Json:
        """Return the engine's answer, or raise the LLMEvalError that it came to."""
        ...


class AskEngine(Protocol):
    """The engine's front door."""

    def ask(self, worker: str, want: str, arguments: dict[str, Json]) -> Future[Json]:
        """Return the future of an answer."""
        ...


class DirectLink:
    """The line inside one process."""

    def __init__(
        self, engine: AskEngine, *, while_waiting: Callable[[], None] = lambda: None
    ) -> None:
        """Call `engine` directly, and `while_waiting` now and then until it answers."""
        self._engine, self._while_waiting = engine, while_waiting

    def ask(self, want: str, arguments: dict[str, Json]) -> Json:
        """Return the engine's answer."""
        future = self._engine.ask("", want, arguments)
        while not _is_done(future, within=_PATIENCE):
            self._while_waiting()
        try:
            return future.result()
        except CancelledError:
            raise RunStopped(_CUT_OFF) from None
        except LLMEvalError as error:
            # Without the engine's frames: they tell a test's author nothing.
            raise error.with_traceback(None) from None


def _is_done(future: Future[Json], *, within: float) -> bool:
    """Tell whether an answer has come after so many seconds at most; `futures.wait` misses one that was cancelled."""
    try:
        future.exception(within)
    except TimeoutError:
        return False
    except CancelledError:
        return True
    return True


class WorkerLink:
    """A worker's end of the channel."""

    def __init__(self, channel: Channel) -> None:
        """Listen on `channel`."""
        self._channel = channel
        self._ids = itertools.count()
        self._waiting: dict[int, Future[Json]] = {}
        self._closed = False
        channel.setcallback(self._receive, endmarker=None)

    def announce(self, plan: Plan, *, whole: bool) -> None:
        """Tell the controller what was collected: the whole plan, or its digest."""
        self._send({"plan": plan.to_json()} if whole else {"digest": plan.digest})

    def ask(self, want: str, arguments: dict[str, Json]) -> Json:
        """Return the engine's answer; RunStopped when the controller is gone."""
        number, future = next(self._ids), Future[Json]()
        self._waiting[number] = future
        if self._closed:
            raise _controller_gone()
        self._send({"id": number, "want": want, "with": arguments})
        return future.result()

    def _send(self, frame: dict[str, Json]) -> None:
        try:
            self._channel.send(json.dumps(frame))
        except OSError:
            raise _controller_gone() from None

    def _receive(self, item: object) -> None:
        if item is None:
            self._closed = True
            for future in list(self._waiting.values()):
                future.set_exception(_controller_gone())
            self._waiting.clear()
            return
        frame = json.loads(cast("str", item))
        future = self._waiting.pop(frame["id"])
        if "error" in frame:
            future.set_exception(error_from_json(frame["error"]))
        else:
            future.set_result(frame["ok"])


class ControllerLink:
    """The controller's end of all workers' channels.

    Callbacks come in execnet's threads and only hand over.
    """

    def __init__(self, engine: AskEngine, take_plan: Callable[[Plan], None]) -> None:
        """Pass wishes to `engine`, and the first worker's plan to `take_plan`."""
        self._engine, self._take_plan = engine, take_plan
        self._plan = _NO_PLAN
        self._digests: dict[str, str] = {}
        self._refused: dict[str, str] = {}

    def refuse(self, nodeid: str, reason: str) -> None:
        """Give a test no completion any more: whoever asks for it is told `reason` as an error."""
        self._refused[nodeid] = reason

    def receive(self, worker: str, channel: Channel, item: str) -> None:
        """Take a frame that came over a worker's channel."""
        frame = json.loads(item)
        if "plan" in frame:
            self._plan = Plan.from_json(frame["plan"])
            self._digests[worker] = self._plan.digest
            self._take_plan(self._plan)
        elif "digest" in frame:
            self._digests[worker] = frame["digest"]
        else:
            self._serve(worker, channel, frame)

    def _serve(self, worker: str, channel: Channel, frame: dict[str, Json]) -> None:
        number, arguments = frame["id"], cast("dict[str, Json]", frame["with"])
        try:
            self._check_plans()
            self._check_refused(str(arguments.get("nodeid")))
            future = self._engine.ask(worker, str(frame["want"]), arguments)
        except LLMEvalError as error:
            _reply(channel, {"id": number, "error": error_to_json(error)})
            return
        future.add_done_callback(lambda done: _reply(channel, _outcome(number, done)))

    def _check_refused(self, nodeid: str) -> None:
        if (reason := self._refused.get(nodeid)) is not None:
            raise LLMEvalError(reason)

    def _check_plans(self) -> None:
        """Let nobody ask anything while one worker collected otherwise: each answer is paid, and the run is void."""
        for worker, digest in list(self._digests.items()):
            if digest != self._plan.digest:
                msg = (
                    f"worker {worker} collected other samples than the first worker; "
                    "collection must not depend on chance, and files must not change meanwhile"
                )
                raise UsageError(msg)


def _outcome(number: Json, done: Future[Json]) -> dict[str, Json]:
    if done.cancelled():
        return {"id": number, "error": error_to_json(RunStopped(_CUT_OFF))}
    error = done.exception()
    return (
        {"id": number, "ok": done.result()}
        if error is None
        else {"id": number, "error": error_to_json(error)}
    )


def _reply(channel: Channel, frame: dict[str, Json]) -> None:
    try:
        channel.send(json.dumps(frame))
    except OSError:
        return  # the worker died; xdist reports its test and starts another


def _controller_gone() -> RunStopped:
    return RunStopped("the controller is gone")

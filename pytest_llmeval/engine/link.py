"""The connection between tests and engine: direct calls, or an execnet channel under xdist.

The channel transports text frames. A worker sends JSON: ``{"plan": ..}`` (the first worker) or
``{"digest": ..}`` (the others), then ``{"id", "want", "with"}`` for each wish. It receives two
lines, ``ID ok`` and JSON, or ``ID error`` and ``{"kind", "message", "fields"}``: the first line can
be read whatever the second holds.

Every wish gets an answer: what cannot be sent, whatever a provider, a solver or a scorer made, is
answered by an error, which is plain text by construction (`error_to_json`).
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Protocol, cast

from pytest_llmeval.engine.pending import Pending
from pytest_llmeval.engine.plan import Plan
from pytest_llmeval.engine.solved import Answer, Solved
from pytest_llmeval.errors import LLMEvalError, RunStopped, UsageError
from pytest_llmeval.records import Json
from pytest_llmeval.records.error_json import error_from_json, error_to_json
from pytest_llmeval.safety.printable import described

_NO_PLAN = Plan(tests=(), tasks=())
"""The plan of a worker without samples, which announces none."""

_CUT_OFF = "the engine ended before it answered"

_OK, _ERROR = "ok", "error"


class Channel(Protocol):
    """The methods of an execnet channel that are used here."""

    def send(self, item: object, /) -> None:
        """Send one item; OSError when the other end is closed."""
        ...

    def setcallback(self, callback: Callable[[object], object], endmarker: object = ...) -> None:
        """Call `callback` for every item, in execnet's thread, and with `endmarker` at the end."""
        ...


class Link(Protocol):
    """The connection from a test to the engine."""

    def send(self, want: str, arguments: dict[str, Json]) -> Pending[Answer]:
        """Send a wish (see `Run.answer`); return its answer, which may be an LLMEvalError."""
        ...


class AskEngine(Protocol):
    """The method of `Engine` that links use."""

    def ask(self, worker: str, want: str, arguments: dict[str, Json]) -> Future[Answer]:
        """Return the future of an answer; RunStopped when the engine was stopped."""
        ...


class DirectLink:
    """The connection to an engine in the same process."""

    def __init__(self, engine: AskEngine, *, meanwhile: Callable[[], None] = lambda: None) -> None:
        """Ask `engine`; threads that wait for an answer call `meanwhile` (see `Pending`)."""
        self._engine, self._meanwhile = engine, meanwhile

    def send(self, want: str, arguments: dict[str, Json]) -> Pending[Answer]:
        """Send a wish; return its answer, which may be an LLMEvalError."""
        try:
            answer = self._engine.ask("", want, arguments)
        except RunStopped as stopped:
            answer = Future()
            answer.set_exception(stopped)
        return Pending(answer, partial(_plain, answer), self._meanwhile)


def _plain(answer: Future[Answer]) -> Answer:
    """Return what a future has, or raise its error as a worker gets it.

    That is without the engine's stack frames, which do not help the author of a test, and never a
    KeyboardInterrupt or SystemExit of a provider's own code.
    """
    __tracebackhide__ = True
    if answer.cancelled():
        raise RunStopped(_CUT_OFF)
    if (error := answer.exception()) is not None:
        raise error_from_json(error_to_json(error))
    return answer.result()


class WorkerLink:
    """A worker's end of its channel to the controller."""

    def __init__(self, channel: Channel) -> None:
        """Receive answers from `channel`."""
        self._channel = channel
        self._ids = itertools.count()
        self._waiting: dict[int, Future[tuple[str, str]]] = {}
        self._closed = False
        channel.setcallback(self._receive, endmarker=None)

    def announce(self, plan: Plan, *, whole: bool) -> None:
        """Send the collected plan to the controller: the whole of it, or its digest."""
        self._send({"plan": plan.to_json()} if whole else {"digest": plan.digest})

    def send(self, want: str, arguments: dict[str, Json]) -> Pending[Answer]:
        """Send a wish; return its answer: LLMEvalError, or RunStopped without a controller."""
        number, answer = next(self._ids), Future[tuple[str, str]]()
        # Who no longer awaits it cannot cancel it: the controller answers all the same.
        answer.set_running_or_notify_cancel()
        self._waiting[number] = answer
        try:
            if self._closed:
                raise _controller_gone()
            self._send({"id": number, "want": want, "with": arguments})
        except RunStopped as gone:
            if self._waiting.pop(number, None) is not None:
                answer.set_exception(gone)
        return Pending(answer, partial(_read, answer))

    def _send(self, frame: dict[str, Json]) -> None:
        try:
            self._channel.send(json.dumps(frame))
        except OSError:
            raise _controller_gone() from None

    def _receive(self, item: object) -> None:
        if item is None:
            self._closed = True
            while self._waiting:
                self._waiting.popitem()[1].set_exception(_controller_gone())
            return
        head, _, text = cast("str", item).partition("\n")
        number, kind = head.split()
        self._waiting.pop(int(number)).set_result((kind, text))


def _read(answer: Future[tuple[str, str]]) -> Json:
    """Return the answer that the controller sent, or raise its LLMEvalError."""
    __tracebackhide__ = True
    kind, text = answer.result()
    try:
        found: Json = json.loads(text)
    except (ValueError, RecursionError) as error:
        msg = f"the engine's answer cannot be read: {described(error)}"
        raise LLMEvalError(msg) from None
    if kind == _ERROR:
        raise error_from_json(found)
    return found


class ControllerLink:
    """The controller's end of the channels of all workers.

    `receive` is called in execnet's threads; it only passes wishes on.
    """

    def __init__(self, engine: AskEngine, take_plan: Callable[[Plan], None]) -> None:
        """Pass wishes to `engine`, and the first worker's plan to `take_plan`."""
        self._engine, self._take_plan = engine, take_plan
        self._plan = _NO_PLAN
        self._digests: dict[str, str] = {}
        self._refused: dict[str, str] = {}

    @property
    def has_plan(self) -> bool:
        """Whether a worker has sent its plan; until then, each new worker is to send it whole."""
        return self._plan is not _NO_PLAN

    def refuse(self, nodeid: str, reason: str) -> None:
        """Answer all further wishes of a test by an LLMEvalError with this reason."""
        self._refused[nodeid] = reason

    def receive(self, worker: str, channel: Channel, item: str) -> None:
        """Process a frame that arrived on a worker's channel."""
        frame = json.loads(item)
        if "plan" in frame:
            plan = Plan.from_json(frame["plan"])
            self._digests[worker] = plan.digest
            if not self.has_plan:
                self._plan = plan
                self._take_plan(plan)
        elif "digest" in frame:
            self._digests[worker] = frame["digest"]
        else:
            self._serve(worker, channel, frame)

    def _serve(self, worker: str, channel: Channel, frame: dict[str, Json]) -> None:
        number, arguments = cast("int", frame["id"]), cast("dict[str, Json]", frame["with"])
        try:
            self._check_plans()
            self._check_refused(str(arguments.get("nodeid")))
            future = self._engine.ask(worker, str(frame["want"]), arguments)
        except Exception as error:  # noqa: BLE001 - the worker waits for an answer
            _send_answer(channel, number, error)
            return
        future.add_done_callback(lambda done: _send_answer(channel, number, _outcome(done)))

    def _check_refused(self, nodeid: str) -> None:
        if (reason := self._refused.get(nodeid)) is not None:
            raise LLMEvalError(reason)

    def _check_plans(self) -> None:
        """Raise UsageError if the workers' plans differ, because the run would be paid in vain."""
        for worker, digest in list(self._digests.items()):
            if digest != self._plan.digest:
                msg = (
                    f"worker {worker} collected other samples than the first worker; "
                    "collection must not depend on chance, and files must not change meanwhile"
                )
                raise UsageError(msg)


def _outcome(done: Future[Answer]) -> Answer | BaseException:
    """Return the result of a future, or its exception."""
    if done.cancelled():
        return RunStopped(_CUT_OFF)
    return done.exception() or done.result()


def _send_answer(channel: Channel, number: int, answer: Answer | BaseException) -> None:
    """Send the answer to a wish: an error, JSON, or an error for what JSON cannot express."""
    try:
        failed = isinstance(answer, BaseException)
        plain = answer.to_json() if isinstance(answer, Solved) else answer
        plain = error_to_json(answer) if isinstance(answer, BaseException) else plain
        text = json.dumps(plain, allow_nan=False)
    except Exception as error:  # noqa: BLE001 - NaN, no JSON, nested too deeply, huge integers
        problem = f"the engine's answer is not plain JSON: {described(error)}"
        failed, text = True, json.dumps(error_to_json(LLMEvalError(problem)))
    try:
        channel.send(f"{number} {_ERROR if failed else _OK}\n{text}")
    except OSError:
        return  # the worker died; xdist reports its test and starts another


def _controller_gone() -> RunStopped:
    return RunStopped("the controller is gone")

"""Solvers written as plain functions: each call runs in a thread, with a blocking context."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import threading
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from pytest_llmeval.engine.context import SolverContext
from pytest_llmeval.errors import RunStopped
from pytest_llmeval.records import Image, Json, Message, Operation, Reply, Role, ToolUse
from pytest_llmeval.roles import SOLVER

_T = TypeVar("_T")


class BlockingContext:
    """A `SolverContext` for plain functions: the same methods, without ``await``."""

    def __init__(self, context: SolverContext, loop: asyncio.AbstractEventLoop) -> None:
        """Forward calls from a thread to `context`, which belongs to the event loop `loop`."""
        self._context, self._loop = context, loop
        self._stopped = threading.Event()
        self._pending: concurrent.futures.Future[Any] | None = None

    @property
    def epoch(self) -> int:
        """Number of the sample's repetition, from 1."""
        return self._context.epoch

    @property
    def images(self) -> tuple[Image, ...]:
        """The sample's pictures, in order."""
        return self._context.images

    def prompt(self, stage: str = "generate", **variables: Json) -> tuple[Message, ...]:
        """Return the task's messages of one stage, rendered for the sample."""
        return self._context.prompt(stage, **variables)

    def generate(  # noqa: PLR0913 - the parts of a request
        self,
        messages: Sequence[Message],
        *,
        stage: str = "generate",
        operation: Operation = "chat",
        draw: int = 0,
        parameters: dict[str, Json] | None = None,
        role: Role = SOLVER,
    ) -> Reply:
        """Send a request to the model under test, or of another role, and return the reply."""
        call = self._context.generate(
            messages,
            stage=stage,
            operation=operation,
            draw=draw,
            parameters=parameters,
            role=role,
        )
        return self._wait(call)

    def shared(self, key: str, start: Callable[[], Awaitable[_T]]) -> _T:
        """Return the run's object under `key`; `start` is awaited in the engine's event loop."""
        return self._wait(self._context.shared(key, start))

    def wait(self, call: Callable[[SolverContext], Coroutine[Any, Any, _T]]) -> _T:
        """Run an async function of the context in the engine's event loop, and return its result.

        Example: ``context.wait(lambda context: use_tool(context, "text"))``.
        """
        return self._wait(call(self._context))

    def setting(self, name: str) -> str | None:
        """Return the value of the option ``--llmeval-NAME``, None when it is not given."""
        return self._context.setting(name)

    def tell(self, text: str) -> None:
        """Show a line to the user."""
        self._context.tell(text)

    def save_image(self, data: bytes) -> Image:
        """Store a picture in the run's folder; ValueError when the bytes are not a picture."""
        return self._context.save_image(data)

    def record(self, use: ToolUse) -> None:
        """Append the use of a tool to the transcript."""
        self._context.record(use)

    def note(self, stage: str, text: str) -> None:
        """Append a remark to the transcript."""
        self._context.note(stage, text)

    def stop(self) -> None:
        """Raise RunStopped in the pending and in all later calls, as the solver was cancelled."""
        self._stopped.set()
        if self._pending is not None:
            self._pending.cancel()

    def _wait(self, call: Coroutine[Any, Any, _T]) -> _T:
        if self._stopped.is_set():
            call.close()
            raise RunStopped
        self._pending = pending = asyncio.run_coroutine_threadsafe(call, self._loop)
        if self._stopped.is_set():
            pending.cancel()
        try:
            return pending.result()
        except concurrent.futures.CancelledError:
            raise RunStopped from None


async def run_in_thread(function: Callable[..., _T], *arguments: object) -> _T:
    """Call `function` in a new daemon thread, and return its result or raise its exception.

    It is not a thread of a pool, because as many solvers wait at a time as requests are in flight,
    and a hanging daemon thread does not keep the process alive.
    """
    loop = asyncio.get_running_loop()
    done = asyncio.Event()
    outcome: concurrent.futures.Future[_T] = concurrent.futures.Future()
    context = contextvars.copy_context()

    def run() -> None:
        try:
            outcome.set_result(context.run(function, *arguments))
        except BaseException as error:  # noqa: BLE001 - raised again by the awaiting coroutine
            outcome.set_exception(error)
        # RuntimeError: the loop is closed, so no coroutine waits for the result.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(done.set)

    threading.Thread(target=run, daemon=True, name="llmeval-solver").start()
    await done.wait()
    return outcome.result()

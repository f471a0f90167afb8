"""Solvers written as plain functions: each call runs in a thread, with a context whose methods block."""

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
from pytest_llmeval.records import Image, Json, Message, Operation, Reply, ToolUse

_T = TypeVar("_T")


class BlockingContext:
    """A `SolverContext` for a thread: the same methods, without ``await``."""

    def __init__(self, context: SolverContext, loop: asyncio.AbstractEventLoop) -> None:
        """Let a thread use `context`, which belongs to `loop`."""
        self._context, self._loop = context, loop
        self._stopped = threading.Event()
        self._pending: concurrent.futures.Future[Any] | None = None

    @property
    def epoch(self) -> int:
        """Which repetition of the sample this is, from 1."""
        return self._context.epoch

    @property
    def images(self) -> tuple[Image, ...]:
        """The sample's own pictures, in order."""
        return self._context.images

    def prompt(self, stage: str = "generate", **variables: Json) -> tuple[Message, ...]:
        """Return the task's messages of one stage."""
        return self._context.prompt(stage, **variables)

    def generate(
        self,
        messages: Sequence[Message],
        *,
        stage: str = "generate",
        operation: Operation = "chat",
        draw: int = 0,
        parameters: dict[str, Json] | None = None,
    ) -> Reply:
        """Ask the model under test and wait for the reply."""
        call = self._context.generate(
            messages, stage=stage, operation=operation, draw=draw, parameters=parameters
        )
        return self._wait(call)

    def shared(self, key: str, start: Callable[[], Awaitable[_T]]) -> _T:
        """Return the run's object under `key`; `start` is awaited in the engine's loop."""
        return self._wait(self._context.shared(key, start))

    def wait(self, call: Callable[[SolverContext], Coroutine[Any, Any, _T]]) -> _T:
        """Await, in the engine's loop, what `call` makes of the async context.

        For functions that take a `SolverContext`: ``context.wait(lambda c: use(c, "text"))``.
        """
        return self._wait(call(self._context))

    def setting(self, name: str) -> str | None:
        """Return the value of the option ``--llmeval-NAME``, None when it is not given."""
        return self._context.setting(name)

    def tell(self, text: str) -> None:
        """Show a line to the user."""
        self._context.tell(text)

    def save_image(self, data: bytes) -> Image:
        """Keep a picture in the run's folder."""
        return self._context.save_image(data)

    def record(self, use: ToolUse) -> None:
        """Append the use of a tool to the transcript."""
        self._context.record(use)

    def note(self, stage: str, text: str) -> None:
        """Put a remark into the transcript."""
        self._context.note(stage, text)

    def stop(self) -> None:
        """End the call that is waited for, and refuse later ones: nobody waits for this solver any more."""
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
    """Return the result of a call in a thread of its own.

    Not a pool's: as many solvers wait at once as requests are in flight, and a thread that hangs
    must not keep the process from ending.
    """
    loop = asyncio.get_running_loop()
    done = asyncio.Event()
    outcome: concurrent.futures.Future[_T] = concurrent.futures.Future()
    context = contextvars.copy_context()

    def run() -> None:
        try:
            outcome.set_result(context.run(function, *arguments))
        except BaseException as error:  # noqa: BLE001 - it belongs to whoever awaits
            outcome.set_exception(error)
        # A closed loop has nobody left who waits.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(done.set)

    threading.Thread(target=run, daemon=True, name="llmeval-solver").start()
    await done.wait()
    return outcome.result()

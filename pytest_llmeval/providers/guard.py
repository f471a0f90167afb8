"""Calls into code that is not ours: whatever it does wrong becomes an error of the sample."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable
from typing import Final, get_args

from msgspec import to_builtins
from msgspec.structs import replace

from pytest_llmeval.engine.blocking import run_in_thread
from pytest_llmeval.errors import LLMEvalError, ProviderError, Reach
from pytest_llmeval.records import Reply, Request, Usage
from pytest_llmeval.records.error_json import error_from_json, error_to_json
from pytest_llmeval.records.figures import with_possible_figures
from pytest_llmeval.records.plain import plain_json
from pytest_llmeval.safety.printable import described
from pytest_llmeval.safety.raised import described_with_place

_STATUSES: Final = range(1000)


class GuardedProvider:
    """A provider whose `send` is a function ``(request) -> str | Reply``, async or plain.

    A plain function runs in a thread. Errors of the package pass, with sound attributes; all other
    exceptions and results become a ProviderError.
    """

    def __init__(
        self,
        function: Callable[[Request], object],
        *,
        name: str,
        close: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """Wrap a function.

        Args:
            function: answers a request.
            name: the model's name in messages.
            close: called when the provider is closed.
        """
        self._function, self._name, self._close = function, name, close

    async def send(self, request: Request) -> Reply:
        """Return the function's reply, with date, latency and number of requests filled in."""
        started = time.monotonic()
        try:
            answer = await self._call(request)
        except asyncio.CancelledError:
            raise
        except LLMEvalError as error:
            raise _sound(error) from error
        # Others too: a SystemExit would end the engine's event loop.
        except BaseException as error:
            msg = f"{self._name} raised {described_with_place(error)}"
            raise ProviderError(msg, cause="python") from error
        reply = self._checked(Reply(text=answer) if isinstance(answer, str) else answer)
        return replace(
            reply,
            usage=reply.usage if reply.usage.requests else reply.usage + Usage(requests=1),
            latency=reply.latency or time.monotonic() - started,
            created=reply.created or time.time(),
        )

    async def close(self) -> None:
        """Close what the function uses."""
        if self._close is not None:
            await self._close()

    def _checked(self, answer: object) -> Reply:
        """Return an equal reply of built-in types, with the figures that it can have.

        Records do not check what they are made of; ProviderError if it is no reply.
        """
        if not isinstance(answer, Reply):
            msg = f"{self._name} returned {type(answer).__name__}; expected str or Reply"
            raise ProviderError(msg, cause="python")
        try:
            reply = Reply.from_json(to_builtins(with_possible_figures(answer)))
            return Reply.from_json(plain_json(reply.to_json(), "its reply"))
        except Exception as error:
            msg = f"{self._name} returned a Reply that is none: {described(error)}"
            raise ProviderError(msg, cause="python") from error

    async def _call(self, request: Request) -> object:
        if inspect.iscoroutinefunction(self._function):
            return await self._function(request)
        answer = await run_in_thread(self._function, request)
        # Of callable objects and partials only the result shows that they are async.
        return await answer if inspect.isawaitable(answer) else answer


def _sound(error: LLMEvalError) -> LLMEvalError:
    """Return an equal error whose attributes have the types and ranges that the engine counts on.

    Code of others may set them to anything: a status that is no number, a wait that is NaN.
    """
    plain = error_from_json(error_to_json(error))
    if not isinstance(plain, ProviderError):
        return plain
    fields: dict[str, object] = vars(plain)
    status, wait, cause = (fields.get(name) for name in ("status", "retry_after", "cause"))
    reach = fields.get("reach")
    known: dict[object, Reach] = {one: one for one in get_args(Reach)}
    return ProviderError(
        str(plain),
        reach=known.get(reach, "sample") if isinstance(reach, str) else "sample",
        status=status if isinstance(status, int) and status in _STATUSES else None,
        retry_after=max(0.0, float(wait)) if isinstance(wait, int | float) else None,
        cause=cause[:40] if isinstance(cause, str) and cause else "provider",
    )

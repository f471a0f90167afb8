"""Lets solvers start what is slow, such as a database, beside the first requests of a run."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

from pytest_llmeval.engine.context import ReadySolver
from pytest_llmeval.engine.sample_run import Surroundings
from pytest_llmeval.errors import LLMEvalError
from pytest_llmeval.safety.printable import described

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Context:
    """The implementation of `RunContext`."""

    around: Surroundings

    async def shared(self, key: str, start: Callable[[], Awaitable[T]]) -> T:
        return await self.around.resources.get(key, start)

    def setting(self, name: str) -> str | None:
        return self.around.settings(name)

    def tell(self, text: str) -> None:
        self.around.tell(text)


class Readiness:
    """Calls the solvers' `get_ready`."""

    def __init__(self, around: Surroundings) -> None:
        """Call nothing yet."""
        self._around, self._calls = around, list[asyncio.Task[None]]()

    def begin(self, solvers: Mapping[str, ReadySolver]) -> None:
        """Begin to get the solvers ready, which are given by their tasks' names; return at once."""
        for task, solver in solvers.items():
            self._calls.append(asyncio.ensure_future(self._get_ready(task, solver)))

    async def close(self) -> None:
        """Cancel what still goes on."""
        for call in self._calls:
            call.cancel()
        await asyncio.gather(*self._calls, return_exceptions=True)

    async def _get_ready(self, task: str, solver: ReadySolver) -> None:
        """Get one solver ready; a failure of what it shares is met again by each sample."""
        try:
            with suppress(LLMEvalError):
                await solver.get_ready(_Context(self._around))
        except Exception as error:  # noqa: BLE001 - of the user's code
            self._around.tell(f"task {task}: its solver's get_ready failed: {described(error)}")

"""Lets solvers start what is slow, such as a database, beside the first requests of a run."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress

from pytest_llmeval.engine.context import ReadySolver
from pytest_llmeval.engine.sample_run import Surroundings, WholeRun
from pytest_llmeval.errors import LLMEvalError
from pytest_llmeval.safety.raised import described_with_place


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
                await solver.get_ready(WholeRun(self._around))
        except Exception as error:  # noqa: BLE001 - of the user's code
            self._around.tell(
                f"task {task}: its solver's get_ready failed: {described_with_place(error)}"
            )

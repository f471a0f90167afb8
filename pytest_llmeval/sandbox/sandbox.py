"""The sandbox of a run: one isolation, found once, and as many programs at a time as processors."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

from pytest_llmeval.sandbox.choice import find_isolation
from pytest_llmeval.sandbox.isolation import OPTION, Isolation, parse_isolation
from pytest_llmeval.sandbox.limits import Limits
from pytest_llmeval.sandbox.run import PROGRAM, Run, run_program

T = TypeVar("T")


class Host(Protocol):
    """What a sandbox needs of a run; contexts of solvers and scorers have it."""

    async def shared(self, key: str, start: Callable[[], Awaitable[T]]) -> T:
        """Return the run's object under `key`, made by the first caller's `start`."""
        ...

    def setting(self, name: str) -> str | None:
        """Return the value of the option ``--llmeval-NAME``; None when it is not given."""
        ...


class Sandbox:
    """Runs programs, as many at a time as there are processors, whoever asks.

    Attributes:
        isolation: how they are isolated.
    """

    def __init__(self, isolation: Isolation) -> None:
        """Take an isolation that works here."""
        self.isolation = isolation
        self._places = asyncio.Semaphore(os.cpu_count() or 1)

    async def run(  # noqa: PLR0913 - as `run_program`
        self,
        text: str,
        *,
        module: str = PROGRAM,
        beside: str | None = None,
        arguments: Sequence[str] = (),
        readable: Sequence[Path] = (),
        limits: Limits = Limits(),  # noqa: B008 - frozen
    ) -> Run:
        """Run a program as soon as a processor is free; see `run_program`."""
        async with self._places:
            return await run_program(
                text,
                isolation=self.isolation,
                module=module,
                beside=beside,
                arguments=arguments,
                readable=readable,
                limits=limits,
            )


async def open_sandbox(host: Host) -> Sandbox:
    """Return the run's sandbox; the first call finds out how to isolate programs.

    It is called before a sample's first request, so that nothing is paid where no program can run.

    Raises:
        UsageError: the option ``--llmeval-sandbox`` is wrong, or programs cannot be isolated here.
    """
    chosen = parse_isolation(host.setting(OPTION))

    async def start() -> Sandbox:
        return Sandbox(await find_isolation(chosen))

    return await host.shared("sandbox", start)

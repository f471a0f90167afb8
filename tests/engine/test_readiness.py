"""What a solver's `get_ready` raises, and how long it may go on."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from pytest_llmeval.engine.context import RunContext
from pytest_llmeval.engine.readiness import Readiness
from pytest_llmeval.engine.resources import Resources
from pytest_llmeval.engine.sample_run import Surroundings
from pytest_llmeval.errors import ToolError
from pytest_llmeval.files.images import ImageFolder
from pytest_llmeval.files.writes import Writes


class Failing:
    """Fails in `get_ready`, by the error that it is given."""

    def __init__(self, error: Exception) -> None:
        """Take the error."""
        self._error = error

    async def get_ready(self, context: RunContext) -> None:
        async def start() -> None:
            raise self._error

        await context.shared("oven", start)


class Endless:
    """Is never ready."""

    cancelled = False

    async def get_ready(self, context: RunContext) -> None:
        context.tell(f"heating, place {context.setting('place')}")
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise


def around(folder: Path, told: list[str]) -> Surroundings:
    return Surroundings(
        image_store=ImageFolder(folder, Writes(lambda _: None)),
        resources=Resources(),
        settings={"place": "here"}.get,
        tell=told.append,
    )


@pytest.mark.parametrize(
    ("error", "lines"),
    [
        (
            ValueError("no oven"),
            [
                (
                    "task cakes: its solver's get_ready failed: ValueError: no oven "
                    "(test_readiness.py, line 28, in start)"
                ),
            ],
        ),
        (ToolError("no gas"), []),  # each sample that needs it gets this error
    ],
)
def test_a_mistake_in_it_is_told_and_a_failed_resource_is_left_to_the_samples(
    tmp_path: Path, error: Exception, lines: list[str]
) -> None:
    told: list[str] = []

    async def try_it() -> None:
        readiness = Readiness(around(tmp_path, told))
        readiness.begin({"cakes": Failing(error)})
        await asyncio.sleep(0.01)
        await readiness.close()

    asyncio.run(try_it())
    assert told == lines


def test_the_end_of_the_run_cancels_it(tmp_path: Path) -> None:
    told: list[str] = []
    endless = Endless()

    async def try_it() -> None:
        readiness = Readiness(around(tmp_path, told))
        readiness.begin({"cakes": endless})
        await asyncio.sleep(0.01)
        await readiness.close()

    asyncio.run(try_it())
    assert endless.cancelled
    assert told == ["heating, place here"]

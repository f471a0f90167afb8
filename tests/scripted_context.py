"""A solver's context with scripted replies (tests/ is on the path because of its conftest.py)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_llmeval.engine.context import Solver, SolverContext
from pytest_llmeval.records import (
    Completion,
    Image,
    Json,
    Message,
    Operation,
    Reply,
    Role,
    Sample,
    ToolUse,
)

SAMPLE = Sample(id="H02", input="How many rooms?", target="9")


@dataclass(frozen=True)
class Asked:
    """A request of a solver."""

    stage: str
    messages: tuple[Message, ...]
    operation: Operation
    draw: int
    parameters: Any  # a dictionary or None; tests reach into it
    role: Role = "solver"


class ScriptedContext:
    """Serves a solver from a script, and keeps what was asked and recorded."""

    epoch = 1
    images: tuple[Image, ...] = ()

    def __init__(
        self,
        *replies: str | Reply,
        settings: Mapping[str, str | None] | None = None,
        resource: Any = None,
    ) -> None:
        """Take the script.

        Args:
            replies: given in turn. The last one, if it is a text, ends for its length: so a test
                sees whose stop reason a completion has.
            settings: the options of the session; a solver may ask for no other ones.
            resource: what `shared` returns for every key, in place of what the solver would start.
        """
        self._replies: Iterator[Reply] = iter(
            [
                one
                if isinstance(one, Reply)
                else Reply(text=one, stop_reason="stop" if number < len(replies) else "length")
                for number, one in enumerate(replies, start=1)
            ]
        )
        self._settings, self._resource = settings or {}, resource
        self.asked: list[Asked] = []
        self.recorded: list[ToolUse] = []
        self.remarks: list[tuple[str, str]] = []
        self.resources: dict[str, Any] = {}
        self.variables: dict[str, Json] = {}

    @property
    def stages(self) -> list[str]:
        """The stages of the requests."""
        return [asked.stage for asked in self.asked]

    def prompt(self, stage: str = "generate", **variables: Json) -> tuple[Message, ...]:
        self.variables = variables
        shown = (f"{key}={value}" for key, value in variables.items())
        return (Message.of("user", " / ".join([stage, *shown])),)

    async def generate(  # noqa: PLR0913 - the parts of a request
        self,
        messages: Sequence[Message],
        *,
        stage: str = "generate",
        operation: Operation = "chat",
        draw: int = 0,
        parameters: dict[str, Json] | None = None,
        role: Role = "solver",
    ) -> Reply:
        self.asked.append(Asked(stage, tuple(messages), operation, draw, parameters, role))
        return await self.reply(self.asked[-1])

    async def reply(self, asked: Asked) -> Reply:
        """Return the next reply of the script."""
        assert (asked.operation, asked.draw) == ("chat", 0)
        return next(self._replies)

    def setting(self, name: str) -> str | None:
        return self._settings[name]

    async def shared(self, key: str, start: Callable[[], Awaitable[Any]]) -> Any:
        if key not in self.resources:
            self.resources[key] = await start() if self._resource is None else self._resource
        return self.resources[key]

    def record(self, use: ToolUse) -> None:
        self.recorded.append(use)

    def tell(self, text: str) -> None:
        raise NotImplementedError

    def save_image(self, data: bytes) -> Image:
        raise NotImplementedError

    def note(self, stage: str, text: str) -> None:
        self.remarks.append((stage, text))


def solved(solver: Solver, context: SolverContext) -> Completion:
    async def solve() -> Completion:
        return await solver(SAMPLE, context)

    return asyncio.run(solve())


def tagged(text: str) -> str:
    return f"Reasons. <answer>{text}</answer>"

"""The implementations of `RunContext` for a run, and of `SolverContext` for one sample."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from pytest_llmeval.engine.calls import Calls
from pytest_llmeval.engine.ports import ImageStore
from pytest_llmeval.engine.resources import Resources
from pytest_llmeval.engine.specs import ModelSpec
from pytest_llmeval.records import (
    Image,
    Json,
    Message,
    Operation,
    Reply,
    Role,
    Sample,
    StageNote,
    ToolUse,
)
from pytest_llmeval.roles import SOLVER
from pytest_llmeval.task import Task
from pytest_llmeval.task.rendering import render

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What all samples of a run share.

    Attributes:
        image_store: stores pictures.
        resources: shared objects, such as databases.
        settings: returns the value of an option by name; see `SolverContext.setting`.
        tell: shows a line to the user.
    """

    image_store: ImageStore
    resources: Resources
    settings: Callable[[str], str | None]
    tell: Callable[[str], None]

    def images(self, sample: Sample) -> tuple[Image, ...]:
        """Return a sample's pictures, as they are sent."""
        return tuple(self.image_store.load(path) for path in sample.images)


class WholeRun:
    """The context of a whole run; see `RunContext`."""

    def __init__(self, around: Surroundings) -> None:
        """Give access to the shared objects and the options of `around`."""
        self._around = around

    async def shared(self, key: str, start: Callable[[], Awaitable[T]]) -> T:
        """Return the run's object under `key`, made by the first caller's `start`."""
        return await self._around.resources.get(key, start)

    def setting(self, name: str) -> str | None:
        """Return the value of the option ``--llmeval-NAME``; None when it is not given."""
        return self._around.settings(name)

    def tell(self, text: str) -> None:
        """Show a line to the user."""
        self._around.tell(text)


class SampleRun(WholeRun):
    """The context of one solver call; see `SolverContext`."""

    def __init__(
        self,
        task: Task,
        sample: Sample,
        model_of: Callable[[Role], ModelSpec],
        calls: Calls,
        around: Surroundings,
    ) -> None:
        """Serve the solver of a sample.

        Args:
            task: its task.
            sample: the sample.
            model_of: returns the model of a role; RoleError if there is none.
            calls: keeps the transcript.
            around: what all samples share.
        """
        super().__init__(around)
        self._task, self._sample, self._model_of, self._calls = task, sample, model_of, calls

    @property
    def epoch(self) -> int:
        """Number of the sample's repetition, from 1."""
        return self._calls.epoch

    @cached_property
    def images(self) -> tuple[Image, ...]:
        """The sample's pictures, as they are sent."""
        return self._around.images(self._sample)

    def prompt(self, stage: str = "generate", **variables: Json) -> tuple[Message, ...]:
        """Return the task's messages of one stage, rendered for the sample."""
        return render(self._task, stage, self._sample, self.images, variables)

    async def generate(  # noqa: PLR0913 - the parts of a request
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
        of_task = self._task.generate if role == SOLVER else {}
        return await self._calls.ask(
            self._model_of(role),
            messages,
            stage=stage,
            operation=operation,
            draw=draw,
            parameters={**of_task, **(parameters or {})},
            role=role,
        )

    def save_image(self, data: bytes) -> Image:
        """Store a picture in the run's folder; ValueError when the bytes are not a picture."""
        return self._around.image_store.save(data)

    def record(self, use: ToolUse) -> None:
        """Append the use of a tool to the transcript."""
        self._calls.note(use)

    def note(self, stage: str, text: str) -> None:
        """Append a remark to the transcript."""
        self._calls.note(StageNote(stage=stage, text=text))

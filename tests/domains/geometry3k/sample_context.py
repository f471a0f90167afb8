"""A sample's way to a model in two stages, which is a function of the test."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from pytest_llmeval.files.images import ImageFolder
from pytest_llmeval.records import Image, Json, Message, Operation, Reply, Sample
from pytest_llmeval.task import Task
from pytest_llmeval.task.rendering import render

SOLUTION = "x = 13"


class Context:
    """A sample's way to a model that is a function, keeping what was asked and noted."""

    epoch = 1

    def __init__(self, task: Task, sample: Sample, folder: Path, draw: Callable[[], Reply]) -> None:
        """Let stage 1 be answered by `draw` and stage 2 by the solution."""
        self._task, self._sample, self._draw = task, sample, draw
        self.folder = ImageFolder(folder / "images")
        self.asked: dict[str, tuple[Operation, tuple[Message, ...]]] = {}
        self.notes: list[tuple[str, str]] = []
        self.pictures_at_question: list[bytes] = []

    @property
    def images(self) -> tuple[Image, ...]:
        return tuple(Image.load(path) for path in self._sample.images)

    def prompt(self, stage: str = "generate", **variables: Json) -> tuple[Message, ...]:
        return render(self._task, stage, self._sample, self.images, variables)

    async def generate(
        self,
        messages: Sequence[Message],
        *,
        stage: str = "generate",
        operation: Operation = "chat",
        draw: int = 0,
        parameters: dict[str, Json] | None = None,
    ) -> Reply:
        assert (draw, parameters) == (0, None)
        self.asked[stage] = operation, tuple(messages)
        if stage == "image":
            return self._draw()
        self.pictures_at_question = [image.read() for image in messages[-1].images]
        return Reply(text=SOLUTION, stop_reason="length")

    def save_image(self, data: bytes) -> Image:
        return self.folder.save(data)

    def note(self, stage: str, text: str) -> None:
        self.notes.append((stage, text))

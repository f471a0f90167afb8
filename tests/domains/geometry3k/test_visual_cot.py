"""The two-stage solver over the benchmark's task, with scripted replies."""

from __future__ import annotations

import asyncio
import io
import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import pytest
from PIL import Image as Pillow

from pytest_llmeval.domains.geometry3k.visual_cot import NO_AUXILIARY_DIAGRAM, VisualCotSolver
from pytest_llmeval.engine.context import SolverContext
from pytest_llmeval.errors import ProviderError, TaskError, UsageError
from pytest_llmeval.files.images import ImageFolder
from pytest_llmeval.records import (
    Completion,
    Image,
    ImagePart,
    Json,
    Message,
    Operation,
    Reply,
    Sample,
    TextPart,
)
from pytest_llmeval.task import Task, load_task
from pytest_llmeval.task.limit import Limit
from pytest_llmeval.task.rendering import render
from pytest_llmeval.task.samples import read_samples

ROOT = Path(__file__).parents[3]
ALTITUDE = (
    '{"points": [{"label": "H", "at": [94, 117]}], "lines": [{"from": [46, 233], "to": "H"}]}'
)
SOLUTION = "x = 13"


@pytest.fixture(scope="module")
def task() -> Task:
    """Return the benchmark's task."""
    return load_task(ROOT / "benchmarks/geometry3k/geometry3k_visual_cot.yaml")


@pytest.fixture
def sample(task: Task) -> Sample:
    """Return the first problem: a right triangle."""
    return read_samples(task, limit=Limit(1))[0]


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


@pytest.fixture
def solve(task: Task, sample: Sample, tmp_path: Path) -> Callable[..., tuple[Completion, Context]]:
    """Return a way to solve the sample: ``solve(reply of stage 1, **options of the solver)``."""

    def solved(stage_1: Reply, **options: Any) -> tuple[Completion, Context]:
        context = Context(task, sample, tmp_path, lambda: stage_1)
        return asyncio.run(
            VisualCotSolver(**options)(sample, cast("SolverContext", context))
        ), context

    return solved


def picture(width: int = 420, height: int = 330, colour: str = "pink") -> bytes:
    """Return a PNG of one colour."""
    stream = io.BytesIO()
    Pillow.new("RGB", (width, height), colour).save(stream, "PNG")
    return stream.getvalue()


def bomb() -> bytes:
    """Return the start of a PNG that claims 60,000 x 60,000 pixels."""
    return b"\x89PNG\r\n\x1a\n" + struct.pack(
        ">I4sIIBBBBBI", 13, b"IHDR", 60_000, 60_000, 8, 2, 0, 0, 0, 0
    )


class TestDraw:
    def test_the_question_goes_with_the_original_first_and_the_drawing_second(
        self, solve: Any
    ) -> None:
        completion, context = solve(Reply(text=ALTITUDE))
        operation, (message,) = context.asked["question"]
        original, auxiliary = message.images
        assert operation == "chat"
        assert original == context.images[0]
        assert auxiliary.digest == completion.details["auxiliary_image"] != original.digest
        assert "You are given TWO images" in message.text
        assert NO_AUXILIARY_DIAGRAM not in message.text
        red = (
            Pillow.open(io.BytesIO(context.pictures_at_question[1]))
            .convert("RGB")
            .getpixel((94, 117))
        )
        assert red == (220, 0, 0)

    def test_the_pictures_stand_side_by_side_in_place_of_the_tag(self, solve: Any) -> None:
        _, context = solve(Reply(text=ALTITUDE))
        (message,) = context.asked["question"][1]
        assert [type(part) for part in message.parts] == [ImagePart, ImagePart, TextPart]

    def test_the_drawing_model_sees_the_diagram_and_learns_its_size(self, solve: Any) -> None:
        _, context = solve(Reply(text=ALTITUDE))
        operation, (message,) = context.asked["image"]
        assert operation == "chat"
        assert message.images == context.images
        assert "create\nan enhanced version of the SAME diagram" in message.text
        assert "420 wide and 330 high" in message.text

    def test_the_completion_is_that_of_the_question(self, solve: Any) -> None:
        completion, _ = solve(Reply(text=ALTITUDE))
        assert (completion.text, completion.stop_reason) == (SOLUTION, "length")
        assert completion.details["image_mode"] == "draw"
        assert completion.details["image_problem"] is None

    def test_the_same_drawing_gives_the_same_request(self, solve: Any) -> None:
        (_, one), (_, other) = solve(Reply(text=ALTITUDE)), solve(Reply(text=ALTITUDE))
        assert one.asked == other.asked

    @pytest.mark.parametrize(
        ("text", "problem"),
        [
            ("I would draw the altitude.", "no JSON object"),
            ("", "no JSON object"),
            ("{}", "adds nothing"),
            ('{"lines": [{"from": [0, 0], "to": [421, 0]}]}', "outside the canvas"),
        ],
    )
    def test_a_reply_that_cannot_be_drawn_is_noted_and_the_question_asked_with_the_original(
        self, text: str, problem: str, solve: Any
    ) -> None:
        completion, context = solve(Reply(text=text))
        _, (message,) = context.asked["question"]
        assert message.images == context.images
        assert message.text.endswith(NO_AUXILIARY_DIAGRAM)
        assert problem in str(completion.details["image_problem"])
        assert completion.details["auxiliary_image"] is None
        ((stage, note),) = context.notes
        assert stage == "image"
        assert problem in note
        assert completion.text == SOLUTION

    def test_the_drawing_is_kept(self, solve: Any) -> None:
        completion, context = solve(Reply(text=ALTITUDE))
        assert [file.stem for file in context.folder.path.iterdir()] == [
            completion.details["auxiliary_image"]
        ]

    def test_without_save_intermediate_the_drawing_lives_as_long_as_the_question(
        self, solve: Any
    ) -> None:
        completion, context = solve(Reply(text=ALTITUDE), save_intermediate=False)
        _, (message,) = context.asked["question"]
        assert len(context.pictures_at_question) == 2
        assert completion.details["auxiliary_image"] == message.images[1].digest
        assert not Path(message.images[1].path).exists()
        assert not context.folder.path.exists()


@pytest.mark.parametrize("mode", ["edit", "chat"])
class TestReturnedPictures:
    def test_the_picture_in_the_reply_goes_with_the_question(
        self, mode: str, solve: Any, tmp_path: Path
    ) -> None:
        image = ImageFolder(tmp_path).save(picture())
        completion, context = solve(Reply(text="", images=(image,)), image_mode=mode)
        _, (message,) = context.asked["question"]
        assert message.images == (*context.images, image)
        assert completion.details["auxiliary_image"] == image.digest
        assert context.asked["image"][0] == {"edit": "image", "chat": "chat"}[mode]
        assert "JSON" not in context.asked["image"][1][0].text

    def test_a_large_picture_is_scaled(self, mode: str, solve: Any, tmp_path: Path) -> None:
        image = ImageFolder(tmp_path).save(picture(3_000, 1_500))
        _, context = solve(Reply(text="", images=(image,)), image_mode=mode)
        assert Pillow.open(io.BytesIO(context.pictures_at_question[1])).size == (2_048, 1_024)

    @pytest.mark.parametrize(
        "data", [None, bomb(), picture()[:-40], "original"], ids=["none", "bomb", "cut", "same"]
    )
    def test_a_reply_without_a_usable_picture_is_noted(
        self, mode: str, data: bytes | str | None, solve: Any, sample: Sample, tmp_path: Path
    ) -> None:
        if data == "original":
            data = Path(sample.images[0]).read_bytes()
        images = (ImageFolder(tmp_path).save(data),) if isinstance(data, bytes) else ()
        completion, context = solve(Reply(text="I cannot draw.", images=images), image_mode=mode)
        _, (message,) = context.asked["question"]
        assert message.images == context.images
        assert message.text.endswith(NO_AUXILIARY_DIAGRAM)
        assert completion.details["auxiliary_image"] is None
        assert len(context.notes) == 1


def test_an_unknown_mode_names_the_known_ones() -> None:
    with pytest.raises(ValueError, match="image_mode is 'paint'; allowed are draw, edit, chat"):
        VisualCotSolver(image_mode="paint")  # type: ignore[arg-type]  # what a task file may hold


@pytest.mark.parametrize("count", [0, 2])
def test_a_sample_must_have_one_diagram(
    count: int, task: Task, sample: Sample, tmp_path: Path
) -> None:
    other = Sample(id="7", input="Find x.", target="5", images=sample.images * count)
    context = Context(task, other, tmp_path, lambda: Reply(text=""))
    with pytest.raises(UsageError, match=f"sample 7 has {count} images"):
        asyncio.run(VisualCotSolver()(other, cast("SolverContext", context)))
    assert context.asked == {}


def test_a_broken_diagram_is_the_datasets_fault_and_costs_no_request(
    task: Task, tmp_path: Path
) -> None:
    file = tmp_path / "diagram.png"
    file.write_bytes(picture()[:-40])
    broken = Sample(id="7", input="<image>Find x.", target="5", images=(str(file),))
    context = Context(task, broken, tmp_path, lambda: Reply(text=""))
    with pytest.raises(TaskError, match=r"diagram\.png: a damaged picture"):
        asyncio.run(VisualCotSolver()(broken, cast("SolverContext", context)))
    assert context.asked == {}


def test_a_providers_failure_is_not_the_models(task: Task, sample: Sample, tmp_path: Path) -> None:
    def fail() -> Reply:
        msg = "status 500"
        raise ProviderError(msg)

    context = Context(task, sample, tmp_path, fail)
    with pytest.raises(ProviderError):
        asyncio.run(VisualCotSolver()(sample, cast("SolverContext", context)))

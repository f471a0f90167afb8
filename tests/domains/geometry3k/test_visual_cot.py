"""The two-stage solver over the benchmark's task, with scripted replies."""

from __future__ import annotations

import asyncio
import io
import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from domains.geometry3k.sample_context import SOLUTION, Context
from msgspec.structs import replace
from PIL import Image as Pillow

from pytest_llmeval.domains.geometry3k.canvas import draw_over
from pytest_llmeval.domains.geometry3k.drawing import parse_drawing
from pytest_llmeval.domains.geometry3k.visual_cot import NO_AUXILIARY_DIAGRAM, VisualCotSolver
from pytest_llmeval.engine.context import SolverContext
from pytest_llmeval.errors import ProviderError, TaskError, UsageError
from pytest_llmeval.files.images import ImageFolder
from pytest_llmeval.records import (
    Completion,
    ImagePart,
    Reply,
    Sample,
    TextPart,
)
from pytest_llmeval.task import Task, load_task
from pytest_llmeval.task.samples import read_samples

ROOT = Path(__file__).parents[3]
ALTITUDE = (
    '{"points": [{"label": "H", "at": [94, 117]}], "lines": [{"from": [46, 233], "to": "H"}]}'
)


@pytest.fixture(scope="module")
def task() -> Task:
    """Return the benchmark's task."""
    return load_task(ROOT / "benchmarks/geometry3k/geometry3k_visual_cot.yaml")


@pytest.fixture
def sample(task: Task) -> Sample:
    """Return the first problem: a right triangle."""
    return read_samples(task, limit=1)[0]


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


TRUE_LINES = ROOT / "benchmarks/geometry3k/geometry3k_true_lines.yaml"
HUNG = {"lines": [{"from": [46, 233], "to": [94, 117]}]}


def given(sample: Sample, folder: Path, **fields: Any) -> tuple[Completion, Context]:
    """Solve a sample in the mode ``given``; `fields` replace those of the sample."""
    own = replace(sample, **fields)
    solver, task = VisualCotSolver(image_mode="given"), load_task(TRUE_LINES)
    solver.check_sample(own)
    context = Context(task, own, folder, lambda: pytest.fail("there is no stage 1"))
    return asyncio.run(solver(own, cast("SolverContext", context))), context


class TestGiven:
    @pytest.mark.parametrize("drawing", [HUNG, json.dumps(HUNG)], ids=["object", "text"])
    def test_a_given_drawing_goes_with_the_question_and_nothing_else_is_asked(
        self, drawing: Any, sample: Sample, tmp_path: Path
    ) -> None:
        completion, context = given(sample, tmp_path, metadata={"auxiliary": drawing})
        assert list(context.asked) == ["question"]
        (message,) = context.asked["question"][1]
        assert [type(part) for part in message.parts] == [ImagePart, ImagePart, TextPart]
        drawn = parse_drawing(json.dumps(HUNG), width=420, height=330)
        expected = draw_over(Path(sample.images[0]).read_bytes(), drawn)
        assert context.pictures_at_question == [Path(sample.images[0]).read_bytes(), expected]
        assert completion.details == {
            "image_mode": "given",
            "auxiliary_image": message.images[1].digest,
            "image_problem": None,
        }

    def test_a_given_picture_goes_as_it_is(self, sample: Sample, tmp_path: Path) -> None:
        (tmp_path / "given.png").write_bytes(picture())
        _, context = given(sample, tmp_path, pictures={"auxiliary": str(tmp_path / "given.png")})
        assert context.pictures_at_question[1] == picture()

    def test_a_drawing_is_in_pixels_of_the_original_even_where_that_is_scaled(
        self, sample: Sample, tmp_path: Path
    ) -> None:
        (tmp_path / "large.png").write_bytes(picture(4_096, 1_000, "white"))
        edge = {"lines": [{"from": [4_090, 0], "to": [4_090, 1_000]}]}
        _, context = given(
            sample, tmp_path, images=(str(tmp_path / "large.png"),), metadata={"auxiliary": edge}
        )
        drawn = Pillow.open(io.BytesIO(context.pictures_at_question[1])).convert("RGB")
        assert drawn.size == (2_048, 500)
        assert drawn.getpixel((2_045, 250)) == (220, 0, 0)

    @pytest.mark.parametrize(
        ("metadata", "problem"),
        [
            ({}, "no auxiliary construction is given, .*metadata .auxiliary: COLUMN"),
            ({"auxiliary": None}, "no JSON object"),
            ({"auxiliary": "a height"}, "no JSON object"),
            ({"auxiliary": {}}, "adds nothing"),
            ({"auxiliary": {"lines": [{"from": [0, 0], "to": [421, 0]}]}}, "outside the canvas"),
            ({"auxiliary": [1]}, "no JSON object"),
        ],
    )
    def test_a_sample_without_a_valid_one_is_refused_before_anything_is_asked(
        self, metadata: dict[str, Any], problem: str, sample: Sample
    ) -> None:
        with pytest.raises(ValueError, match=problem):
            VisualCotSolver(image_mode="given").check_sample(replace(sample, metadata=metadata))

    def test_no_other_mode_needs_one(self, sample: Sample) -> None:
        for mode in ("draw", "edit", "chat"):
            VisualCotSolver(image_mode=mode).check_sample(sample)

    def test_the_row_that_is_wrong_is_named_when_the_dataset_is_read(self, tmp_path: Path) -> None:
        rows = json.loads((ROOT / "fixtures/geometry3k/problems.json").read_text("utf-8"))[:3]
        del rows[1]["auxiliary"]
        rows[2]["auxiliary"]["lines"][0]["to"] = [500, 0]
        for row in rows:
            row["images"] = [Path(row["images"][0]).name]
            (tmp_path / row["images"][0]).write_bytes(
                (ROOT / "fixtures/geometry3k/images" / row["images"][0]).read_bytes()
            )
        (tmp_path / "rows.json").write_text(json.dumps(rows), "utf-8")
        named = {
            "dataset.path": str(tmp_path / "rows.json"),
            "dataset.fields.metadata": "{auxiliary: 'auxiliary?'}",
        }
        with pytest.raises(TaskError) as caught:
            read_samples(load_task(TRUE_LINES, named))
        assert "row 2: no auxiliary construction is given" in str(caught.value)
        assert "row 3: the given auxiliary drawing is wrong" in str(caught.value)


def test_a_check_of_a_solver_that_breaks_is_told_with_the_row(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(_: VisualCotSolver, sample: Sample) -> None:
        raise KeyError(sample.id)

    monkeypatch.setattr(VisualCotSolver, "check_sample", broken)
    problem = "row 1: the check of the solver 'visual_cot' failed: KeyError"
    with pytest.raises(TaskError, match=problem):
        read_samples(load_task(TRUE_LINES), limit=1)


def test_an_unknown_mode_names_the_known_ones() -> None:
    with pytest.raises(
        ValueError, match="image_mode is 'paint'; allowed are draw, edit, chat, given"
    ):
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

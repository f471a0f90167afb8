"""Two stages: have the diagram redrawn with auxiliary lines, then ask the question about both pictures."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeAlias, get_args

from pytest_llmeval.domains.geometry3k.drawing import DRAWING_INSTRUCTIONS, parse_drawing
from pytest_llmeval.engine.context import Solver, SolverContext
from pytest_llmeval.errors import TaskError, UsageError
from pytest_llmeval.records import (
    Completion,
    Image,
    ImagePart,
    Message,
    Operation,
    Part,
    Reply,
    Sample,
    TextPart,
)
from pytest_llmeval.session.settings import ImageMode

NO_AUXILIARY_DIAGRAM: Final = "Note: no auxiliary diagram could be made for this problem. Only image 1, the original diagram, is given."
"""What stage 2 is told when stage 1 gave no usable picture; its prompt speaks of two."""

_Save: TypeAlias = Callable[[bytes], Image]


def visual_cot(*, image_mode: ImageMode = "draw", save_intermediate: bool = True) -> Solver:
    """Return the solver that asks the prompt's stages ``image`` and ``question``.

    Stage 2 gets the original diagram first and the auxiliary one after it. A stage 1 without a
    usable picture (no JSON, a line that leaves the canvas, no picture in the reply) is the model's
    own failure: it is noted, told in the details, and stage 2 goes on with the original alone,
    knowing so. With `save_intermediate` off a drawn picture is deleted after stage 2; a picture
    that a provider sent is part of its stored reply and stays.
    """
    if image_mode not in get_args(ImageMode):
        msg = f"visual_cot: image_mode is {image_mode!r}; allowed are {', '.join(get_args(ImageMode))}"
        raise UsageError(msg)

    async def solve(sample: Sample, context: SolverContext) -> Completion:
        if len(context.images) != 1:
            msg = f"visual_cot redraws one diagram, but sample {sample.id} has {len(context.images)} images"
            raise UsageError(msg)
        with ExitStack() as stack:
            save = context.save_image if save_intermediate else _passing_folder(stack)
            picture, problem = await _auxiliary_diagram(image_mode, context, save)
            addition: Part = (
                ImagePart(image=picture) if picture else TextPart(text=NO_AUXILIARY_DIAGRAM)
            )
            reply = await context.generate(
                _with(context.prompt("question"), addition), stage="question"
            )
        return Completion(
            text=reply.text,
            stop_reason=reply.stop_reason,
            details={
                "image_mode": image_mode,
                "auxiliary_image": picture.digest if picture else None,
                "image_problem": problem,
            },
        )

    return solve


async def _auxiliary_diagram(
    mode: ImageMode, context: SolverContext, save: _Save
) -> tuple[Image | None, str | None]:
    """Return stage 1's picture, or None and what is wrong with the model's reply."""
    (original,) = context.images
    messages = context.prompt("image")
    if mode == "draw":
        messages = _with(messages, TextPart(text=await asyncio.to_thread(_instructions, original)))
    operation: Operation = "image" if mode == "edit" else "chat"
    reply = await context.generate(messages, stage="image", operation=operation)
    take = _drawn if mode == "draw" else _returned
    try:
        return await asyncio.to_thread(take, reply, original, save), None
    except ValueError as error:
        context.note("image", f"no auxiliary diagram: {error}")
        return None, str(error)


def _instructions(original: Image) -> str:
    """Return what a drawing model is told; TaskError when the dataset's picture cannot be drawn over."""
    from pytest_llmeval.files.images import check_picture, picture_size  # noqa: PLC0415 - the adapter loads pillow

    data = original.read()
    try:
        check_picture(data)
        width, height = picture_size(data)
    except ValueError as error:
        raise TaskError(str(error), file=original.path) from error
    return "\n\n" + DRAWING_INSTRUCTIONS.format(width=width, height=height)


def _drawn(reply: Reply, original: Image, save: _Save) -> Image:
    """Draw what the reply describes over the original; ValueError when it describes nothing that can be drawn."""
    from pytest_llmeval.files.images import draw_over, picture_size  # noqa: PLC0415 - the adapter loads pillow

    data = original.read()
    width, height = picture_size(data)
    return save(draw_over(data, parse_drawing(reply.text, width=width, height=height)))


def _returned(reply: Reply, original: Image, save: _Save) -> Image:
    """Return the picture in the reply, fit for sending; ValueError when there is none, or it is broken."""
    from pytest_llmeval.files.images import check_picture, sendable  # noqa: PLC0415 - the adapter loads pillow

    if not reply.images:
        msg = f"the reply holds no picture but the text {reply.text[:80]!r}"
        raise ValueError(msg)
    picture = reply.images[0]
    check_picture(picture.read())
    if picture.digest == original.digest:
        msg = "the reply's picture is the original, unchanged"
        raise ValueError(msg)
    return sendable(picture, save)


def _with(messages: tuple[Message, ...], addition: Part) -> tuple[Message, ...]:
    """Return the messages with a picture behind the last one's pictures, or a text at its end."""
    *before, last = messages
    at = len(last.parts)
    if isinstance(addition, ImagePart):
        at = max(
            (index + 1 for index, part in enumerate(last.parts) if isinstance(part, ImagePart)),
            default=0,
        )
    return (*before, replace(last, parts=(*last.parts[:at], addition, *last.parts[at:])))


def _passing_folder(stack: ExitStack) -> _Save:
    """Return a way to keep pictures until the stack closes."""
    from pytest_llmeval.files.images import ImageFolder  # noqa: PLC0415 - the adapter loads pillow

    return ImageFolder(
        Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="llmeval-images-")))
    ).save

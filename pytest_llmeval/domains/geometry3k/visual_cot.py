"""Visual chain of thought: have the diagram redrawn with auxiliary lines, then ask the question."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias, get_args

from msgspec.structs import replace

from pytest_llmeval.domains.geometry3k.auxiliary import (
    Save,
    check_given,
    drawn,
    given,
    instructions,
    returned,
)
from pytest_llmeval.engine.context import SolverContext
from pytest_llmeval.errors import UsageError
from pytest_llmeval.files.images import ImageFolder
from pytest_llmeval.records import (
    Completion,
    Image,
    ImagePart,
    Json,
    Message,
    Operation,
    Part,
    Sample,
    TextPart,
)

ImageMode: TypeAlias = Literal["draw", "edit", "chat", "given"]
"""How the auxiliary diagram is made.

``draw``: a text model describes it in JSON, and it is drawn. ``edit``: the provider's image
endpoint. ``chat``: a chat reply that holds a picture. ``given``: the dataset brings it.
"""

NO_AUXILIARY_DIAGRAM: Final = (
    "Note: no auxiliary diagram could be made for this problem. "
    "Only image 1, the original diagram, is given."
)
"""Added to the prompt of stage 2, which speaks of two images, when stage 1 made none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VisualCotSolver:
    """Asks for an auxiliary diagram (stage ``image``), then for the answer (stage ``question``).

    Stage 2 gets the original diagram first and the auxiliary one after it. A reply to stage 1
    without a usable picture (no JSON, a line that leaves the diagram, no picture, a broken one, the
    original unchanged, a refusal) counts as the model's failure: it is not asked again but noted in
    the transcript and the details, and stage 2 is asked with the original alone.

    In the mode ``given`` there is no stage 1: the sample brings the construction, as a drawing in
    its metadata (the JSON that a drawing model replies, in pixels of the original) or as a picture.

    Details: ``image_mode``, ``auxiliary_image`` (the picture's digest) and ``image_problem``.

    Attributes:
        image_mode: how the auxiliary diagram is made.
        save_intermediate: whether a drawn picture is kept after stage 2. A picture that a provider
            sent is part of its stored reply and is always kept.
    """

    image_mode: ImageMode = "draw"
    save_intermediate: bool = True

    def __post_init__(self) -> None:
        """Raise ValueError for an unknown mode."""
        if self.image_mode not in get_args(ImageMode):
            msg = f"image_mode is {self.image_mode!r}; allowed are {', '.join(get_args(ImageMode))}"
            raise ValueError(msg)

    @property
    def stages(self) -> tuple[str, ...]:
        """Stages of the prompt."""
        return ("question",) if self.image_mode == "given" else ("image", "question")

    def check_sample(self, sample: Sample) -> None:
        """Raise ValueError where a construction should be given, and the sample has no valid one.

        Only the sizes of pictures are looked at; nothing is drawn.
        """
        if self.image_mode == "given":
            check_given(sample)

    def variables(self) -> Mapping[str, Json]:
        """Return the variables of the prompts: none."""
        return {}

    async def __call__(self, sample: Sample, context: SolverContext) -> Completion:
        """Solve one sample."""
        if len(context.images) != 1:
            msg = (
                f"visual_cot redraws one diagram, "
                f"but sample {sample.id} has {len(context.images)} images"
            )
            raise UsageError(msg)
        with ExitStack() as stack:
            save = context.save_image if self.save_intermediate else _passing_folder(stack)
            picture, problem = await self._auxiliary_diagram(sample, context, save)
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
                "image_mode": self.image_mode,
                "auxiliary_image": picture.digest if picture else None,
                "image_problem": problem,
            },
        )

    async def _auxiliary_diagram(
        self, sample: Sample, context: SolverContext, save: Save
    ) -> tuple[Image | None, str | None]:
        """Return stage 1's picture, or None and what is wrong with the model's reply."""
        if self.image_mode == "given":
            return await asyncio.to_thread(given, sample, save), None
        (original,) = context.images
        messages = context.prompt("image")
        drawing = self.image_mode == "draw"
        if drawing:
            text = await asyncio.to_thread(instructions, original)
            messages = _with(messages, TextPart(text=text))
        operation: Operation = "image" if self.image_mode == "edit" else "chat"
        reply = await context.generate(messages, stage="image", operation=operation)
        take = drawn if drawing else returned
        try:
            return await asyncio.to_thread(take, reply, original, save), None
        except ValueError as error:
            context.note("image", f"no auxiliary diagram: {error}")
            return None, str(error)


def _with(messages: tuple[Message, ...], addition: Part) -> tuple[Message, ...]:
    """Return the messages with a picture after the last one's pictures, or a text at its end."""
    *before, last = messages
    at = len(last.parts)
    if isinstance(addition, ImagePart):
        at = max(
            (index + 1 for index, part in enumerate(last.parts) if isinstance(part, ImagePart)),
            default=0,
        )
    return (*before, replace(last, parts=(*last.parts[:at], addition, *last.parts[at:])))


def _passing_folder(stack: ExitStack) -> Save:
    """Return a function that stores pictures until the stack closes."""
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="llmeval-images-"))
    return ImageFolder(Path(folder)).save

"""The auxiliary diagram: drawn from a reply's words, taken from a reply, or given by the sample."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from pytest_llmeval.domains.geometry3k.canvas import draw_over
from pytest_llmeval.domains.geometry3k.drawing import DRAWING_INSTRUCTIONS, Drawing, parse_drawing
from pytest_llmeval.errors import TaskError
from pytest_llmeval.files.images import check_picture, picture_size, sendable
from pytest_llmeval.records import Image, Reply, Sample

AUXILIARY: Final = "auxiliary"
"""The name of a given construction in a sample's metadata (a drawing) or pictures."""

_NOTHING_GIVEN: Final = (
    "no auxiliary construction is given, which image_mode 'given' needs: map a drawing's column by "
    f"dataset.fields.metadata {{{AUXILIARY}: COLUMN}}, or a picture's by dataset.fields.pictures"
)
_ENDED: Final[Mapping[str, str]] = {
    "filter": ", stopped by a filter,",
    "length": ", cut by the token limit,",
    "refusal": ", a refusal,",
}
"""What is said of a reply without a picture, by its stop reason."""

_MOST_PROBLEMS: Final = 3
"""Number of picture problems of one reply that its message lists; further ones are left out."""

Save: TypeAlias = Callable[[bytes], Image]
"""Stores the bytes of a picture."""


def instructions(original: Image) -> str:
    """Return the instructions for drawing; TaskError when the diagram cannot be drawn over."""
    data = original.read()
    try:
        check_picture(data)
        width, height = picture_size(data)
    except ValueError as error:
        raise TaskError(str(error), file=original.path) from error
    return "\n\n" + DRAWING_INSTRUCTIONS.format(width=width, height=height)


def drawn(reply: Reply, original: Image, save: Save) -> Image:
    """Draw the shapes of a reply over the original; ValueError if the shapes are invalid."""
    data = original.read()
    width, height = picture_size(data)
    return save(draw_over(data, parse_drawing(reply.text, width=width, height=height)))


def returned(reply: Reply, original: Image, save: Save) -> Image:
    """Return the reply's first usable picture, ready to be sent; ValueError if it has none."""
    problems = list(reply.image_problems)
    for picture in reply.images:
        try:
            check_picture(picture.read())
            if picture.digest != original.digest:
                return sendable(picture, save)
            problems.append("the reply's picture is the original, unchanged")
        except ValueError as error:
            problems.append(str(error))
    if not problems:
        ended = _ENDED.get(reply.stop_reason, "")
        problems.append(f"the reply{ended} holds no picture but the text {reply.text[:80]!r}")
    raise ValueError("; ".join(problems[:_MOST_PROBLEMS]))


def given(sample: Sample, save: Save) -> Image:
    """Return the construction that a sample brings, ready to be sent.

    Raises:
        TaskError: a picture cannot be decoded.
    """
    path = sample.pictures.get(AUXILIARY)
    file = path or sample.images[0]
    try:
        picture = Image.load(file)
        if path:
            check_picture(picture.read())
        else:
            original = picture.read()
            picture = save(draw_over(original, _given_drawing(sample, original)))
        return sendable(picture, save)
    except ValueError as error:
        raise TaskError(str(error), file=file) from error


def check_given(sample: Sample) -> None:
    """Raise ValueError where a sample brings no construction, or an invalid drawing."""
    if AUXILIARY in sample.pictures:
        return
    if AUXILIARY not in sample.metadata:
        raise ValueError(_NOTHING_GIVEN)
    for path in sample.images:
        _given_drawing(sample, Image.load(path).read())


def _given_drawing(sample: Sample, original: bytes) -> Drawing:
    """Return the drawing in a sample's metadata, JSON or its text; ValueError if it is invalid."""
    given = sample.metadata[AUXILIARY]
    width, height = picture_size(original)
    try:
        return parse_drawing(
            given if isinstance(given, str) else json.dumps(given), width=width, height=height
        )
    except ValueError as error:
        msg = f"the given auxiliary drawing is wrong: {error}"
        raise ValueError(msg) from error

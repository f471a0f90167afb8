"""Chat messages: a role and parts of text or image."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final, TypeAlias

from pytest_llmeval.records.record import Record
from pytest_llmeval.safety.regular_files import read_regular

MAX_PICTURE_BYTES: Final = 50_000_000
"""Bytes of a picture's file at most; providers take 20 MB."""

_SIGNATURES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
}


class Image(Record, frozen=True, kw_only=True):
    """A picture on disk.

    Attributes:
        digest: sha256 of the file's bytes, in hex; it identifies the picture.
        media_type: such as ``image/png``.
        path: where the file is now.
    """

    digest: str
    media_type: str
    path: str

    @classmethod
    def load(cls, path: Path | str) -> Image:
        """Return the image at `path`.

        Raises:
            OSError: the file cannot be read.
            ValueError: it is not a PNG, JPEG, GIF or WebP, judged by its first bytes.
        """
        data = read_regular(path, max_bytes=MAX_PICTURE_BYTES)
        return cls(
            digest=hashlib.sha256(data).hexdigest(), media_type=media_type_of(data), path=str(path)
        )

    def read(self) -> bytes:
        """Return the file's bytes."""
        return read_regular(self.path, max_bytes=MAX_PICTURE_BYTES)


def media_type_of(data: bytes) -> str:
    """Return the media type of a picture, judged by its first bytes.

    Raises:
        ValueError: they are not those of a PNG, JPEG, GIF or WebP.
    """
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    for signature, media_type in _SIGNATURES.items():
        if data.startswith(signature):
            return media_type
    msg = f"not a PNG, JPEG, GIF or WebP image (it starts with {data[:8]!r})"
    raise ValueError(msg)


class TextPart(Record, frozen=True, kw_only=True, tag_field="kind", tag="text"):
    """Text in a message."""

    text: str


class ImagePart(Record, frozen=True, kw_only=True, tag_field="kind", tag="image"):
    """A picture in a message."""

    image: Image


Part: TypeAlias = TextPart | ImagePart
"""One piece of a message; its JSON has a tag ``kind``: ``text`` or ``image``."""


class ToolCall(Record, frozen=True, kw_only=True):
    """A model's request to call a tool.

    Attributes:
        id: the provider's identifier of the call.
        name: the tool's name.
        arguments: the arguments as JSON text, not yet validated.
    """

    id: str
    name: str
    arguments: str


class Message(Record, frozen=True, kw_only=True, omit_defaults=True):
    """One chat message.

    Attributes:
        role: ``system``, ``user``, ``assistant`` or ``tool``.
        parts: its texts and pictures, in order.
        tool_calls: the calls that an assistant's message requests.
        tool_call_id: in a tool's message, the `ToolCall.id` that it answers.
        continuation: in an assistant's message, the `Reply.continuation` of the reply that it
            repeats: opaque JSON text of one provider's, such as its signed reasoning. It is not
            part of a request's identity.
    """

    role: str
    parts: tuple[Part, ...]
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    continuation: str = ""

    @classmethod
    def of(cls, role: str, text: str) -> Message:
        """Return a message of plain text: ``Message.of("user", "Hello")``."""
        return cls(role=role, parts=(TextPart(text=text),))

    @property
    def text(self) -> str:
        """The text parts, concatenated."""
        return "".join(part.text for part in self.parts if isinstance(part, TextPart))

    @property
    def images(self) -> tuple[Image, ...]:
        """The pictures, in order."""
        return tuple(part.image for part in self.parts if isinstance(part, ImagePart))

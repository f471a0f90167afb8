"""Chat messages: a role and parts of text or image."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TypeAlias

from pytest_llmeval.records.record import Record

_SIGNATURES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
}


class Image(Record, frozen=True, kw_only=True):
    """A picture on disk, known by the sha256 of its bytes (the path is where they are now)."""

    digest: str
    media_type: str
    path: str

    @classmethod
    def load(cls, path: Path | str) -> Image:
        """Return the image at `path`; ValueError when its first bytes are no PNG, JPEG, GIF or WebP."""
        data = Path(path).read_bytes()
        return cls(
            digest=hashlib.sha256(data).hexdigest(), media_type=media_type_of(data), path=str(path)
        )

    def read(self) -> bytes:
        """Return the bytes."""
        return Path(self.path).read_bytes()


def media_type_of(data: bytes) -> str:
    """Return the media type that the first bytes show; ValueError when they show none we know."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    for signature, media_type in _SIGNATURES.items():
        if data.startswith(signature):
            return media_type
    msg = f"not a PNG, JPEG, GIF or WebP image (it starts with {data[:8]!r})"
    raise ValueError(msg)


class TextPart(Record, frozen=True, kw_only=True, tag_field="kind", tag="text"):
    """A piece of text in a message."""

    text: str


class ImagePart(Record, frozen=True, kw_only=True, tag_field="kind", tag="image"):
    """A picture in a message."""

    image: Image


Part: TypeAlias = TextPart | ImagePart


class ToolCall(Record, frozen=True, kw_only=True):
    """A model's wish to call a tool: the provider's id for it, the tool's name, its arguments as JSON text."""

    id: str
    name: str
    arguments: str


class Message(Record, frozen=True, kw_only=True, omit_defaults=True):
    """One chat message. `role` is system, user, assistant or tool."""

    role: str
    parts: tuple[Part, ...]
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None

    @classmethod
    def of(cls, role: str, text: str) -> Message:
        """Return a message of plain text."""
        return cls(role=role, parts=(TextPart(text=text),))

    @property
    def text(self) -> str:
        """The text parts, joined."""
        return "".join(part.text for part in self.parts if isinstance(part, TextPart))

    @property
    def images(self) -> tuple[Image, ...]:
        """The pictures, in order."""
        return tuple(part.image for part in self.parts if isinstance(part, ImagePart))

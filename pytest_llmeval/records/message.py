"""Chat messages: a role and parts of text or image."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, cast

Json: TypeAlias = bool | int | float | str | list["Json"] | dict[str, "Json"] | None
"""What may cross a process or reach a file: exact built-in JSON types, nothing else."""

_SIGNATURES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPart:
    """A piece of text in a message."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImagePart:
    """A picture in a message."""

    image: Image


Part: TypeAlias = TextPart | ImagePart


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A model's wish to call a tool: the provider's id for it, the tool's name, its arguments as JSON text."""

    id: str
    name: str
    arguments: str

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return {"id": self.id, "name": self.name, "arguments": self.arguments}

    @classmethod
    def from_json(cls, data: dict[str, Json]) -> ToolCall:
        """Return the call that `to_json` wrote."""
        return cls(id=str(data["id"]), name=str(data["name"]), arguments=str(data["arguments"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
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

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form; images as digest, media type and path."""
        data: dict[str, Json] = {
            "role": self.role,
            "parts": [_part_to_json(part) for part in self.parts],
        }
        if self.tool_calls:
            data["tool_calls"] = [call.to_json() for call in self.tool_calls]
        if self.tool_call_id is not None:
            data["tool_call_id"] = self.tool_call_id
        return data

    @classmethod
    def from_json(cls, data: dict[str, Json]) -> Message:
        """Return the message that `to_json` wrote."""
        call_id = data.get("tool_call_id")
        return cls(
            role=str(data["role"]),
            parts=tuple(
                _part_from_json(part) for part in cast("list[dict[str, Json]]", data["parts"])
            ),
            tool_calls=tuple(
                ToolCall.from_json(call)
                for call in cast("list[dict[str, Json]]", data.get("tool_calls", []))
            ),
            tool_call_id=None if call_id is None else str(call_id),
        )


def image_to_json(image: Image) -> dict[str, Json]:
    """Return the JSON form of an image: what identifies it and where it lies."""
    return {"digest": image.digest, "media_type": image.media_type, "path": image.path}


def image_from_json(data: dict[str, Json]) -> Image:
    """Return the image that `image_to_json` wrote."""
    return Image(
        digest=str(data["digest"]), media_type=str(data["media_type"]), path=str(data["path"])
    )


def _part_to_json(part: Part) -> dict[str, Json]:
    if isinstance(part, TextPart):
        return {"text": part.text}
    return {"image": image_to_json(part.image)}


def _part_from_json(data: dict[str, Json]) -> Part:
    if "text" in data:
        return TextPart(text=str(data["text"]))
    return ImagePart(image=image_from_json(cast("dict[str, Json]", data["image"])))

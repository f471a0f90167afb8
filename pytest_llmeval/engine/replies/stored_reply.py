"""The record of one stored reply, the same in every place."""

from __future__ import annotations

import time
from typing import Self

from msgspec.structs import replace

from pytest_llmeval.engine.spec_settings import split_spec
from pytest_llmeval.records import Image, Json, Record, Reply, Request, Role
from pytest_llmeval.records.figures import possible_seconds, with_possible_figures
from pytest_llmeval.records.request import request_key


class StoredReply(Record, frozen=True, kw_only=True, omit_defaults=True):
    """A reply, what was asked, and which model was asked.

    This is the JSON object of a recording's line and of a row in a reply store.

    Attributes:
        key: hash of `content`, equal for all models.
        content: what was asked (`Request.content`).
        model: the model's spec without parameters, such as ``openai/m,base_url=http://x/v1``.
        reply: the reply. Paths of pictures are relative to the folder of the file, or absolute.
        role: which model of the run was asked, the one under test or the judge.
        created: when the reply was made (s since 1970); 0 if the file has no date for it.
        endpoint: address that the environment gave the provider then; "" for its default.
    """

    key: str
    content: dict[str, Json]
    model: str
    reply: Reply
    role: Role = "solver"
    created: float = 0.0
    endpoint: str = ""

    @classmethod
    def from_json(cls, data: Json) -> Self:
        """Return the record; figures that no reply can have count as not reported."""
        if isinstance(data, dict):
            data = {**data, "created": possible_seconds(data.get("created"))}
            if isinstance(reply := data.get("reply"), dict):
                data["reply"] = with_possible_figures(reply)
        return super().from_json(data)

    @classmethod
    def of(cls, request: Request, reply: Reply, *, endpoint: str = "") -> StoredReply:
        """Return the record of a reply; one without a date was made now."""
        return cls(
            key=request.content_key,
            content=request.content,
            model=f"{request.provider}/{request.model}{request.route}",
            reply=reply,
            role=request.role,
            created=reply.created or time.time(),
            endpoint=endpoint,
        )

    @property
    def request_key(self) -> str:
        """The `Request.key` of the request: the hash of model and content."""
        kind, name, route = split_spec(self.model)
        return request_key(kind, name, route, self.content)

    @property
    def images(self) -> tuple[Image, ...]:
        """The pictures of the reply."""
        return self.reply.images

    def with_images(self, images: tuple[Image, ...]) -> StoredReply:
        """Return the record with other pictures, such as copies."""
        return replace(self, reply=replace(self.reply, images=images)) if images else self

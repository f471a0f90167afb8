"""Where a request of Anthropic's Messages API is cached: its `cache_control` breakpoints.

A prompt is cached in the order tools, system, messages, up to a mark. Marks pay at the end of what
requests share: the system's part, examples as turns; and at the end of a conversation that goes on,
as one with tools does.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Final, TypeAlias

from pytest_llmeval.providers.prompt_cache import Breakpoint
from pytest_llmeval.records import Json

SHORTEST: Final = 2_000
"""Characters of a prefix for which a mark is worth it: no model caches less than 512 tokens."""

Place: TypeAlias = tuple[str, int, int]
"""A block: ``system`` or ``messages``, the index there, and for messages that of the block."""

_NO_MARK: Final = frozenset({"thinking", "redacted_thinking"})
"""Types of blocks that take no mark."""


def breakpoints(body: dict[str, Json]) -> list[Breakpoint[Place]]:
    """Return the places at which the request may be cached; none if it says itself how it is."""
    if "cache_control" in body or '"cache_control"' in json.dumps(body.get("tools", [])):
        return []
    return [*_shared(body), *_going_on(body)]


def with_breakpoints(body: dict[str, Json], places: tuple[Place, ...]) -> dict[str, Json]:
    """Return the body with marks at some blocks; the given one stays as it is."""
    marked = dict(body)
    for field, index, inner in places:
        items: list[Json] = list(marked[field])  # type: ignore[arg-type]  # as the body is built
        item = items[index]
        if field == "system":
            items[index] = _marked(item)
        else:
            blocks = list(item["content"])  # type: ignore[index,arg-type,call-overload]  # as above
            blocks[inner] = _marked(blocks[inner])
            items[index] = {**item, "content": blocks}  # type: ignore[dict-item]  # as above
        marked[field] = items
    return marked


def _shared(body: dict[str, Json]) -> Iterator[Breakpoint[Place]]:
    """Yield the ends of what requests of one task share, where it is long enough."""
    tools, system = body.get("tools", []), body.get("system", [])
    digest = hashlib.sha256()
    length = _add(digest, [tools, system])
    if isinstance(system, list) and system and length >= SHORTEST:
        yield Breakpoint(("system", len(system) - 1, 0), digest.hexdigest())
    messages = body["messages"]
    # What stands before the last user's turn: examples, or an earlier part of the conversation.
    before = messages[:-1] if isinstance(messages, list) else []
    if before and (inner := _last_block(before[-1])) is not None:
        length += _add(digest, before)
        if length >= SHORTEST:
            yield Breakpoint(("messages", len(before) - 1, inner), digest.hexdigest())


def _going_on(body: dict[str, Json]) -> Iterator[Breakpoint[Place]]:
    """Yield the end of a conversation with tools, if the model may call one of them."""
    choice, messages = body.get("tool_choice"), body["messages"]
    forbidden = isinstance(choice, dict) and choice.get("type") == "none"
    if not body.get("tools") or forbidden or not isinstance(messages, list):
        return
    if (inner := _last_block(messages[-1])) is not None:
        yield Breakpoint(("messages", len(messages) - 1, inner), None)


def _add(digest: hashlib._Hash, parts: Json) -> int:
    """Add some of the request to a digest; return the number of characters."""
    text = json.dumps(parts)
    digest.update(text.encode())
    return len(text)


def _last_block(message: Json) -> int | None:
    """Return the place of a message's last block; None if that takes no mark."""
    blocks = message.get("content") if isinstance(message, dict) else None
    if not isinstance(blocks, list) or not blocks or not isinstance(blocks[-1], dict):
        return None
    return None if blocks[-1].get("type") in _NO_MARK else len(blocks) - 1


def _marked(block: Json) -> Json:
    return {**block, "cache_control": {"type": "ephemeral"}} if isinstance(block, dict) else block

"""The result of an MCP tool as text for a model."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp.types import CallToolResult, ContentBlock


def result_text(result: CallToolResult) -> str:
    """Return the texts of a result, or else its structured content as JSON.

    A picture or sound is named by its type and size, and not shown.
    """
    parts = [_part(block) for block in result.content]
    if not parts and result.structured_content is not None:
        parts = [json.dumps(result.structured_content, ensure_ascii=False)]
    # Half of a surrogate pair is JSON, but no text that could be stored or sent.
    return "\n".join(parts).encode("utf-8", "replace").decode("utf-8")


def _part(block: ContentBlock) -> str:
    match block.type:
        case "text":
            return block.text
        case "image" | "audio":
            size = len(block.data) * 3 // 4
            return f"[{block.type} of the type {block.mime_type}, {size} bytes, not shown]"
        case "resource_link":
            return f"[resource {block.name}: {block.uri}]"
        case "resource":
            text = getattr(block.resource, "text", None)
            return text if isinstance(text, str) else f"[resource {block.resource.uri}, not shown]"

"""An MCP server of the package `mcp` with a state, pictures, errors and its environment."""

from __future__ import annotations

import base64
import os

from mcp.server.mcpserver import Image, MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("counter")
COUNT = {"value": 0}


@server.tool()
def add(number: int, times: int = 1) -> int:
    """Add to the counter, and return its value."""
    COUNT["value"] += number * times
    return COUNT["value"]


@server.tool()
def environment() -> dict[str, str]:
    """Return all variables."""
    return dict(os.environ)


@server.tool()
def fail(text: str) -> str:
    """Fail with a text."""
    raise ToolError(text)


@server.tool()
def picture() -> Image:
    """Return a picture."""
    return Image(data=base64.b64decode("iVBORw0KGgo="), format="png")


if __name__ == "__main__":
    server.run()

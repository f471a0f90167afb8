"""An MCP server that keeps a stock of goods in memory; a new process is started per sample."""

from __future__ import annotations

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("stock")
STOCK = {"north": {"flour": 12, "sugar": 5}, "south": {"flour": 3, "sugar": 40}}


@server.tool()
def count(store: str, article: str) -> int:
    """Return how many sacks of an article a store (north or south) has."""
    if article not in STOCK.get(store, {}):
        msg = f"there is no {article} in a store {store!r}"
        raise ToolError(msg)
    return STOCK[store][article]


@server.tool()
def move(article: str, sacks: int, to: str) -> str:
    """Move sacks of an article to a store (north or south) from the other one."""
    source = "south" if to == "north" else "north"
    if STOCK[source][article] < sacks:
        msg = f"{source} has only {STOCK[source][article]} sacks"
        raise ToolError(msg)
    STOCK[source][article] -= sacks
    STOCK[to][article] += sacks
    return "done"


if __name__ == "__main__":
    server.run()

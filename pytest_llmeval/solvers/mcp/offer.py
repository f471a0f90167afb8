"""Which tools of an MCP server are offered, and by which names."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NoReturn

from pytest_llmeval.errors import ToolError
from pytest_llmeval.records import Json
from pytest_llmeval.scoring.schemas import Schema
from pytest_llmeval.solvers.mcp.server import McpServer

if TYPE_CHECKING:
    from mcp.types import Tool

MOST_TOOLS: Final = 128
"""Tools of one server, as many as providers accept in all."""

LONGEST_LIST: Final = 200_000
"""Characters of the names, descriptions and schemas of one server's tools, which every request
holds."""

_NO_NAME = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST_NAME = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedTool:
    """A tool as its server lists it.

    Attributes:
        name: what the model calls it: the server's name for it, with ``_`` for what providers
            refuse.
        called: the server's name.
        description, parameters: see `engine.tool.Tool`.
    """

    name: str
    called: str
    description: str
    parameters: Mapping[str, Json]


def offered_tools(server: McpServer, found: Sequence[Tool]) -> tuple[ListedTool, ...]:
    """Return the tools of a server that are offered; ToolError if they cannot be."""
    wanted, known = server.options.tools, {tool.name: tool for tool in found}
    missing = [name for name in wanted if name not in known]
    if missing:
        _refuse(server, f"has no tool {missing[0]!r}, only {_few(known)}; mend its `tools`")
    chosen = [known[name] for name in wanted or known]
    if not chosen:
        _refuse(server, "lists no tools")
    if len(chosen) > MOST_TOOLS:
        _refuse(
            server,
            f"lists {len(chosen)} tools, and {MOST_TOOLS} are the most that models are offered; "
            f"name those to offer by its `tools`, of {_few(known)}",
        )
    listed = tuple(_listed(server, tool) for tool in chosen)
    size = sum(
        len(one.name) + len(one.description) + len(json.dumps(one.parameters)) for one in listed
    )
    if size > LONGEST_LIST:
        _refuse(
            server,
            f"describes its tools in {size:,} characters, which every request would hold, and "
            f"{LONGEST_LIST:,} are the most; name fewer by its `tools`",
        )
    return listed


def _listed(server: McpServer, tool: Tool) -> ListedTool:
    try:
        Schema(tool.input_schema)
    except ValueError as error:
        _refuse(server, f"lists the tool {tool.name!r}, whose arguments cannot be checked: {error}")
    return ListedTool(
        name=offered_name(tool.name),
        called=tool.name,
        description=tool.description or tool.title or tool.name,
        parameters=tool.input_schema,
    )


def offered_name(name: str) -> str:
    """Return what a model calls a tool of a server: a name that every provider accepts."""
    return _NO_NAME.sub("_", name)[:_LONGEST_NAME] or "_"


def _few(names: Mapping[str, object]) -> str:
    shown = list(names)[:20]
    return ", ".join([*shown, "..."] if len(names) > len(shown) else shown) or "none"


def _refuse(server: McpServer, problem: str) -> NoReturn:
    msg = f"{server.told} {problem}"
    raise ToolError(msg)

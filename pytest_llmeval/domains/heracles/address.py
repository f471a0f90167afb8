"""The value of the option ``--llmeval-graph``: which graph database a session asks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, cast, get_args

from pytest_llmeval.engine.context import RunContext
from pytest_llmeval.errors import UsageError

SCHEMES: Final = (
    "bolt://",
    "bolt+s://",
    "bolt+ssc://",
    "neo4j://",
    "neo4j+s://",
    "neo4j+ssc://",
)

OwnServer: TypeAlias = Literal["neo4j", "arcadedb"]
"""A server that the run starts and ends itself."""

_RESET = "reset=on"

NO_GRAPH: Final = (
    "the task names no scene, so it asks what a server holds, and none is named; add "
    "--llmeval-graph bolt://HOST:PORT, or the option scene of the solver or tool"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphAddress:
    """A graph database server; `reset` allows that whatever else it holds is deleted."""

    uri: str
    reset: bool = False

    @classmethod
    def parse(cls, text: str) -> GraphAddress:
        """Return the address that ``URI[,reset=on]`` states.

        Raises:
            UsageError: the text is anything else.
        """
        uri, comma, option = text.partition(",")
        if not uri.startswith(SCHEMES):
            msg = (
                f"--llmeval-graph {text!r} is no graph database; expected "
                f"{', '.join(get_args(OwnServer))}, or an address with one of {', '.join(SCHEMES)}"
            )
            raise UsageError(msg)
        if comma and option != _RESET:
            msg = (
                f"--llmeval-graph {text!r}: {option!r} is no option of a graph database; "
                f"write {uri}, or {uri},{_RESET} to have its content deleted"
            )
            raise UsageError(msg)
        return cls(uri=uri, reset=bool(comma))


GraphChoice: TypeAlias = GraphAddress | OwnServer | None
"""A user's server, a server of our own, or None: the Neo4j of our own wherever it is installed,
else ArcadeDB."""


def parse_graph(text: str | None) -> GraphChoice:
    """Return what a value of the option means; None when it is not given.

    Raises:
        UsageError: it is wrong.
    """
    if text is None or text in get_args(OwnServer):
        return cast("OwnServer | None", text)
    return GraphAddress.parse(text)


def graph_address(context: RunContext) -> GraphChoice:
    """Return the session's graph database.

    Raises:
        UsageError: the option ``--llmeval-graph`` is wrong.
    """
    return parse_graph(context.setting("graph"))

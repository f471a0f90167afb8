"""The value of the option ``--llmeval-graph``: which graph database a session asks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pytest_llmeval.engine.context import SolverContext
from pytest_llmeval.errors import UsageError

SCHEMES: Final = (
    "bolt://",
    "bolt+s://",
    "bolt+ssc://",
    "neo4j://",
    "neo4j+s://",
    "neo4j+ssc://",
)

_RESET = "reset=on"

NO_GRAPH: Final = (
    "the task names no scene, so it asks what a server holds, and none is named; add "
    "--llmeval-graph bolt://HOST:PORT, or the solver's option scene"
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
                f"--llmeval-graph {text!r} is no graph database; "
                f"expected one of {', '.join(SCHEMES)}"
            )
            raise UsageError(msg)
        if comma and option != _RESET:
            msg = (
                f"--llmeval-graph {text!r}: {option!r} is no option of a graph database; "
                f"write {uri}, or {uri},{_RESET} to have its content deleted"
            )
            raise UsageError(msg)
        return cls(uri=uri, reset=bool(comma))


def graph_address(context: SolverContext) -> GraphAddress | None:
    """Return the session's graph database, None for the embedded one.

    Raises:
        UsageError: the option ``--llmeval-graph`` is wrong.
    """
    text = context.setting("graph")
    return None if text is None else GraphAddress.parse(text)

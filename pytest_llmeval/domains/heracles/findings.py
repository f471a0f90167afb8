"""Details that the solvers of scene-graph questions record about a query."""

from __future__ import annotations

from pytest_llmeval.records import Json, ToolUse

_SECONDS_DIGITS = 4


def query_findings(query: ToolUse | None) -> dict[str, Json]:
    """Return the details of a sample's last query; None if the model wrote none.

    ``cypher``, ``valid_cypher`` (it ran), ``rows`` (how many the model was shown) and
    ``query_seconds``.
    """
    if query is None:
        return {"cypher": None, "valid_cypher": False}
    return {
        "cypher": query.input,
        "valid_cypher": query.error is None,
        "rows": query.count,
        "query_seconds": round(query.seconds, _SECONDS_DIGITS),
    }

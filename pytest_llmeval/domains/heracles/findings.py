"""Details that the solvers of scene-graph questions record about an answer."""

from __future__ import annotations

from pytest_llmeval.records import Json, ToolUse
from pytest_llmeval.scoring.sldp import SldpSyntaxError, parse_sldp

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


def is_sldp(answer: str | None) -> bool:
    """Return whether an answer is SLDP, right or wrong."""
    if answer is None:
        return False
    try:
        parse_sldp(answer)
    except SldpSyntaxError:
        return False
    return True

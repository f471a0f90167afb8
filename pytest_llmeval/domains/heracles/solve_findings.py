"""What the solvers of scene-graph questions tell of a sample, beside its answer."""

from __future__ import annotations

from pytest_llmeval.records import GraphQuery, Json

_SECONDS_DIGITS = 4


def query_findings(query: GraphQuery | None) -> dict[str, Json]:
    """Return the details of a sample's last query (None: the model wrote none).

    ``cypher``, ``valid_cypher`` (it ran), ``rows`` (how many there were to show) and
    ``query_seconds``.
    """
    if query is None:
        return {"cypher": None, "valid_cypher": False}
    return {
        "cypher": query.cypher,
        "valid_cypher": query.error is None,
        "rows": query.row_count,
        "query_seconds": round(query.seconds, _SECONDS_DIGITS),
    }


def is_sldp(answer: str | None) -> bool:
    """Return whether an answer is SLDP, right or wrong."""
    from pytest_llmeval.scoring.sldp import SldpSyntaxError, parse_sldp  # noqa: PLC0415 - lark is loaded with the first answer

    if answer is None:
        return False
    try:
        parse_sldp(answer)
    except SldpSyntaxError:
        return False
    return True

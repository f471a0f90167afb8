"""Details that the solvers of scene-graph questions record about an answer."""

from __future__ import annotations

import asyncio

from pytest_llmeval.records import Json, ToolUse
from pytest_llmeval.scoring.sldp import LONGEST_ANSWER, SldpSyntaxError, parse_sldp

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


async def is_sldp(answer: str | None) -> bool:
    """Return whether an answer is SLDP, right or wrong; none beyond `LONGEST_ANSWER` is.

    A long one takes seconds to parse, so that happens in a thread, beside the event loop.
    """
    if answer is None or len(answer) > LONGEST_ANSWER:
        return False
    return await asyncio.to_thread(_parses, answer)


def _parses(answer: str) -> bool:
    try:
        parse_sldp(answer)
    except SldpSyntaxError:
        return False
    return True

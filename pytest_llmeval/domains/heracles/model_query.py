"""A model's query as a tool use: checked, run, and recorded with its rows or the reason."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from pytest_llmeval.domains.heracles.bolt import QueryFailedError
from pytest_llmeval.domains.heracles.dialect import Adapted
from pytest_llmeval.domains.heracles.query import preflight
from pytest_llmeval.domains.heracles.rows import RowsText
from pytest_llmeval.records import ToolUse

_REFUSALS: Final = ("Neo.ClientError.Security.", "Neo.ClientError.Procedure.")
"""Codes of refusals that any engine would give."""


async def run_query(
    cypher: str,
    *,
    stage: str,
    engine: str,
    ask: Callable[[str, Sequence[str]], Awaitable[RowsText]],
    adapt: Callable[[str], Adapted] | None = None,
) -> ToolUse:
    """Run a model's query, and return its record: refused, failed, or with its rows as text.

    Args:
        cypher: the query as the model wrote it.
        stage: the solver's stage, for the record.
        engine: name and version of the database, for the record.
        ask: runs a query; its second argument are the names of the columns.
        adapt: rewrites the query for an engine with another dialect. When such an engine fails at
            a query that Neo4j's rules allow, whatever the failure, the record is marked as
            uncertain.
    """
    started = time.monotonic()
    adapted = Adapted(text=cypher, refusal=preflight(cypher))
    if adapt is not None and adapted.refusal is None:
        adapted = adapt(cypher)
    refusal, uncertain = adapted.refusal, adapted.doubt
    rows = RowsText(text="", shown=0, cut=None)
    try:
        if refusal is None or adapted.needs_rows:
            found = await ask(adapted.text, adapted.columns)
            if refusal is None or found.shown == 0:
                rows, refusal = found, None
    except QueryFailedError as error:
        refusal = str(error)
        if adapt is not None and not refusal.startswith(_REFUSALS):
            uncertain = uncertain or "the embedded engine refuses it; Neo4j may not"
    return ToolUse(
        stage=stage,
        tool=engine,
        input=cypher,
        executed=adapted.text,
        output=rows.text,
        count=rows.shown,
        error=refusal,
        cut=rows.cut,
        # Of a query with rows without the wait for a slot, which beside many others is most of it.
        seconds=rows.seconds or time.monotonic() - started,
        uncertain=uncertain,
    )

"""A model's query as a tool use: checked, run, and recorded with its rows or the reason."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from pytest_llmeval.domains.heracles.bolt import QueryFailedError
from pytest_llmeval.domains.heracles.query import preflight
from pytest_llmeval.domains.heracles.rows import RowsText
from pytest_llmeval.records import ToolUse


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """The database that answers, for the records.

    Attributes:
        name: its name in rows, such as ``neo4j``.
        agent: name and version as it tells them, such as ``Neo4j/5.26.16``.
        stands_in_for: the database in whose place it answers; "" if in no other's.
    """

    name: str
    agent: str
    stands_in_for: str = ""


async def run_query(
    cypher: str, *, stage: str, engine: Engine, ask: Callable[[str], Awaitable[RowsText]]
) -> ToolUse:
    """Run a model's query, and return its record: refused, failed, or with its rows as text.

    Args:
        cypher: the query as the model wrote it.
        stage: the solver's stage, for the record.
        engine: the database, for the record.
        ask: runs a query.
    """
    started = time.monotonic()
    rows = RowsText(text="", shown=0, cut=None)
    refusal = preflight(cypher)
    if refusal is None:
        try:
            rows = await ask(cypher)
        except QueryFailedError as error:
            refusal = str(error)
    return ToolUse(
        stage=stage,
        tool=engine.agent,
        input=cypher,
        output=rows.text,
        count=rows.shown,
        error=refusal,
        cut=rows.cut,
        # Of a query with rows without the wait for a slot, which beside many others is most of it.
        seconds=rows.seconds or time.monotonic() - started,
        engine=engine.name,
        stands_in_for=engine.stands_in_for,
    )

"""The Bolt protocol, by the `neo4j` driver: one server, asked a model's queries within limits."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import neo4j
from neo4j import exceptions as driver_errors
from neo4j.graph import Node, Path, Relationship
from neo4j.spatial import Point

from pytest_llmeval.domains.heracles.dialect import Adapted
from pytest_llmeval.domains.heracles.query import preflight
from pytest_llmeval.domains.heracles.rows import (
    GraphValue,
    NodeValue,
    PathValue,
    PointValue,
    RelationshipValue,
    RowsText,
    RowsWriter,
    keeps_order,
)
from pytest_llmeval.errors import GraphError
from pytest_llmeval.records import GraphQuery

_CONNECT_SECONDS = 10.0
_MAX_MESSAGE = 1_000

_STATEMENT_CODES = "Neo.ClientError.Statement."
# Failures that name the database, not the query; after them it is asked whether it still lives.
_DOUBTFUL_CODES = ("Neo.DatabaseError.", "Neo.TransientError.")
# These are told as transient, but come from what the query wanted: never tried again.
_OWN_FAULT_CODES = (
    "Neo.TransientError.General.MemoryPoolOutOfMemoryError",
    "Neo.TransientError.Transaction.Terminated",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """Where a database is and who asks; `database` None is the server's default one."""

    uri: str
    username: str
    password: str
    database: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeLimits:
    """Seconds a query may take: by the server's own clock, and until the connection is dropped."""

    server: float
    deadline: float


class QueryFailedError(Exception):
    """The query is at fault: wrong, forbidden, or too expensive.

    The text is for whoever wrote it.
    """


class NoAnswerError(Exception):
    """The server dropped the connection, kept silent or broke; whose fault it is, the caller finds out."""

    def __init__(self, problem: str, *, timed_out: bool = False, told: bool = False) -> None:
        """Take what happened, whether it was silence beyond the deadline, and whether the server itself told it."""
        super().__init__(problem)
        self.timed_out, self.told = timed_out, told


class Bolt:
    """A server behind a Bolt address."""

    def __init__(self, login: Login, limits: TimeLimits) -> None:
        """Connect when first asked."""
        self._login, self._limits = login, limits
        self._driver = neo4j.AsyncGraphDatabase.driver(
            login.uri,
            auth=(login.username, login.password),
            connection_timeout=_CONNECT_SECONDS,
            connection_acquisition_timeout=_CONNECT_SECONDS,
            # Queries of models are never retried, and neither is anything else: the caller decides.
            max_transaction_retry_time=0,
        )

    def session(self, *, access: str = neo4j.WRITE_ACCESS) -> neo4j.AsyncSession:
        """Return a session on the database, for whoever has his own statements to run."""
        return self._driver.session(database=self._login.database, default_access_mode=access)

    async def agent(self) -> str:
        """Return how the server calls itself, such as ``Neo4j/5.26.16``; GraphError when it cannot be reached."""
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                return (await self._driver.get_server_info()).agent
        except driver_errors.AuthError as error:
            msg = f"{self._login.uri} refuses the user {self._login.username!r}: {_told(error)}"
            raise GraphError(msg) from error
        except (driver_errors.Neo4jError, driver_errors.DriverError, OSError) as error:
            msg = f"no graph database answers at {self._login.uri}: {_told(error)}"
            raise GraphError(msg) from error

    async def ask(self, cypher: str, columns: Sequence[str] = ()) -> RowsText:
        """Run a query read-only and by itself, once; QueryFailedError or NoAnswerError when it brings no rows.

        `columns` are what the columns are to be called, if not as the result calls them.
        """
        try:
            async with asyncio.timeout(self._limits.deadline):
                return await self._rows(cypher, columns)
        except TimeoutError:
            msg = f"no answer within {self._limits.deadline:g} s; the connection was dropped"
            raise NoAnswerError(msg, timed_out=True) from None
        except driver_errors.AuthError as error:
            msg = f"{self._login.uri} refuses the user {self._login.username!r}: {_told(error)}"
            raise GraphError(msg) from error
        except driver_errors.Neo4jError as error:
            raise _failure(error) from error
        except RecursionError:
            msg = "the result is nested too deeply to be read"
            raise QueryFailedError(msg) from None
        except driver_errors.BrokenRecordError as error:
            msg = f"the result holds a value that cannot be read: {_told(error)}"
            raise QueryFailedError(msg) from error
        except (driver_errors.DriverError, OSError) as error:
            # The driver's own words name ports and addresses: they would differ from run to run, in
            # a model's prompt.
            msg = "the connection was lost"
            raise NoAnswerError(msg) from error

    async def close(self) -> None:
        """Drop the connections."""
        await self._driver.close()

    async def _rows(self, cypher: str, columns: Sequence[str]) -> RowsText:
        # An auto-commit transaction: the driver would repeat a managed one after an error it holds
        # for transient.
        query = neo4j.Query(cypher, timeout=self._limits.server)
        started = time.monotonic()
        session = self.session(access=neo4j.READ_ACCESS)
        try:
            result = await session.run(query)
            writer = RowsWriter(columns or result.keys(), convert=_graph_value)
            async for record in result:
                if not writer.add(record.values()):
                    break
        finally:
            # Rows that nobody wants any more are not waited for, so that nothing here can be broken
            # off half closed.
            session.cancel()
            await session.close()
        return replace(
            writer.finish(ordered=keeps_order(cypher)), seconds=time.monotonic() - started
        )


async def run_query(
    cypher: str,
    *,
    stage: str,
    engine: str,
    ask: Callable[[str, Sequence[str]], Awaitable[RowsText]],
    adapt: Callable[[str], Adapted] | None = None,
) -> GraphQuery:
    """Return the record of a model's query: refused, failed, or with its rows as text.

    `adapt` makes it ready for an engine with a dialect of its own. When such an engine fails at a
    query that Neo4j's rules allow, that is uncertain too.
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
        if adapt is not None and refusal.startswith(_STATEMENT_CODES):
            uncertain = uncertain or "the embedded engine refuses it; Neo4j may not"
    return GraphQuery(
        stage=stage,
        cypher=cypher,
        executed=adapted.text,
        engine=engine,
        text=rows.text,
        row_count=rows.shown,
        error=refusal,
        cut=rows.cut,
        # Where there are rows, without the wait for a turn: beside many others that is most of it.
        seconds=rows.seconds or time.monotonic() - started,
        uncertain=uncertain,
    )


def _failure(error: driver_errors.Neo4jError) -> Exception:
    code = error.code or ""
    if code.startswith(_OWN_FAULT_CODES) or not code.startswith(_DOUBTFUL_CODES):
        return QueryFailedError(f"{code}: {_told(error)}")
    return NoAnswerError(f"{code}: {_told(error)}", told=True)


def _told(error: Exception) -> str:
    """Return the error's own words, on one line of bounded length."""
    message = (
        error.message
        if isinstance(error, driver_errors.Neo4jError) and error.message
        else str(error)
    )
    return " ".join(message.split())[:_MAX_MESSAGE] or type(error).__name__


def _graph_value(value: Any) -> GraphValue | None:  # noqa: ANN401 - whatever the driver makes of a record
    """Return a driver's value as ours, one level deep; None when there is nothing to turn."""
    match value:
        case Point():
            return PointValue(tuple(value))
        case Node():
            return NodeValue(sorted(value.labels), dict(value.items()))
        case Relationship():
            return RelationshipValue(value.type, dict(value.items()))
        case Path():
            return PathValue(
                [NodeValue(sorted(node.labels), dict(node.items())) for node in value.nodes],
                [
                    (RelationshipValue(step.type, {}), step.start_node == node)
                    for node, step in zip(value.nodes, value.relationships, strict=False)
                ],
            )
        case _:
            return None

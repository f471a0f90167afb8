"""A connection to a graph database over Bolt, which runs a model's queries within limits."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import neo4j
from neo4j import exceptions as driver_errors
from neo4j.graph import Node, Path, Relationship
from neo4j.spatial import Point

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
from pytest_llmeval.errors import ToolError

_CONNECT_SECONDS = 10.0
_POLL_SECONDS = 0.2
_MAX_MESSAGE = 1_000
_MARK = "llmeval"
"""Key of a query's mark in the metadata of its transaction."""

# Codes of failures that other queries, a cold server or a defect of it may have caused: time-outs,
# full memory, errors inside the server.
_DOUBTFUL_CODES = ("Neo.DatabaseError.", "Neo.TransientError.", "Neo.ClientError.Transaction.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """Address of a database and credentials; `database` None is the server's default one."""

    uri: str
    username: str
    password: str
    database: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeLimits:
    """Seconds a query may take: on the server, and until the client drops the connection."""

    server: float
    deadline: float


class QueryFailedError(Exception):
    """The query is wrong, forbidden or too expensive; the model is shown the text."""


class NoAnswerError(Exception):
    """The server broke, hung or gave up, because of this query, of another one, or by itself.

    Only a query that fails so alone, on a warm server, is known to be at fault.
    """

    def __init__(self, problem: str, *, timed_out: bool = False, reported: bool = False) -> None:
        """Keep what happened.

        Args:
            problem: what happened.
            timed_out: whether the server's time limit or the client's deadline was exceeded.
            reported: whether the server sent the failure.
        """
        super().__init__(problem)
        self.timed_out, self.reported = timed_out, reported


class Bolt:
    """A connection to a server."""

    def __init__(self, login: Login, limits: TimeLimits) -> None:
        """Take the login; the first use connects."""
        self._login, self._limits = login, limits
        self._driver = neo4j.AsyncGraphDatabase.driver(
            login.uri,
            auth=(login.username, login.password),
            connection_timeout=_CONNECT_SECONDS,
            connection_acquisition_timeout=_CONNECT_SECONDS,
            # The driver retries nothing: the callers decide.
            max_transaction_retry_time=0,
        )

    def session(self, *, access: str = neo4j.WRITE_ACCESS) -> neo4j.AsyncSession:
        """Return a session on the database, without the limits of `ask`."""
        return self._driver.session(database=self._login.database, default_access_mode=access)

    async def agent(self) -> str:
        """Return the server's name and version, such as ``Neo4j/5.26.16``.

        Raises:
            ToolError: it cannot be reached.
        """
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                return (await self._driver.get_server_info()).agent
        except driver_errors.AuthError as error:
            msg = f"{self._login.uri} refuses the user {self._login.username!r}: {_message(error)}"
            raise ToolError(msg) from error
        except (driver_errors.Neo4jError, driver_errors.DriverError, OSError) as error:
            msg = f"no graph database answers at {self._login.uri}: {_message(error)}"
            raise ToolError(msg) from error

    async def ask(self, cypher: str, *, mark: str = "") -> RowsText:
        """Run a query once, read-only, in its own transaction, and return its rows.

        Args:
            cypher: the query.
            mark: a text by which `end_query` finds the transaction; none if empty.

        Raises:
            QueryFailedError: the query is at fault.
            NoAnswerError: the server broke or hung.
            ToolError: the login is refused.
        """
        try:
            async with asyncio.timeout(self._limits.deadline):
                return await self._rows(cypher, mark)
        except TimeoutError:
            msg = f"no answer within {self._limits.deadline:g} s; the connection was dropped"
            raise NoAnswerError(msg, timed_out=True) from None
        except driver_errors.AuthError as error:
            msg = f"{self._login.uri} refuses the user {self._login.username!r}: {_message(error)}"
            raise ToolError(msg) from error
        except driver_errors.Neo4jError as error:
            raise _failure(error) from error
        except RecursionError:
            msg = "the result is nested too deeply to be read"
            raise QueryFailedError(msg) from None
        except driver_errors.BrokenRecordError as error:
            msg = f"the result holds a value that cannot be read: {_message(error)}"
            raise QueryFailedError(msg) from error
        except (driver_errors.DriverError, OSError) as error:
            # The driver's message names ports and addresses, which would differ from run to run in
            # a model's prompt.
            msg = "the connection was lost"
            raise NoAnswerError(msg) from error

    async def close(self) -> None:
        """Drop the connections."""
        await self._driver.close()

    async def end_query(self, mark: str) -> bool:
        """End the queries that were asked with this mark and are still under way on a Neo4j.

        Leaving a connection does not end its query. Return whether none is under way any more;
        False, too, when the server does not answer.
        """
        under_way = (
            "SHOW TRANSACTIONS YIELD transactionId, metaData "
            "WHERE metaData[$key] = $mark RETURN transactionId"
        )
        with suppress(driver_errors.Neo4jError, driver_errors.DriverError, OSError, TimeoutError):
            async with asyncio.timeout(_CONNECT_SECONDS), self.session() as session:
                while found := await _column(session, under_way, key=_MARK, mark=mark):
                    await _column(session, "TERMINATE TRANSACTIONS $found", found=found)
                    await asyncio.sleep(_POLL_SECONDS)
                return True
        return False

    async def _rows(self, cypher: str, mark: str) -> RowsText:
        # An auto-commit transaction: the driver would repeat a managed one after a transient error.
        metadata = {_MARK: mark} if mark else None
        query = neo4j.Query(cypher, timeout=self._limits.server, metadata=metadata)
        started = time.monotonic()
        session = self.session(access=neo4j.READ_ACCESS)
        try:
            result = await session.run(query)
            writer = RowsWriter(result.keys(), convert=_graph_value)
            async for record in result:
                if not writer.add(record.values()):
                    break
        finally:
            # Does not wait for rows beyond the limit, so that closing takes no time.
            session.cancel()
            await session.close()
        return replace(
            writer.finish(ordered=keeps_order(cypher)), seconds=time.monotonic() - started
        )


async def _column(session: neo4j.AsyncSession, cypher: str, **parameters: Any) -> list[Any]:  # noqa: ANN401 - the driver's
    """Return the first value of each row."""
    return [record[0] async for record in await session.run(cypher, parameters)]


def _failure(error: driver_errors.Neo4jError) -> Exception:
    code = error.code or ""
    problem = f"{code}: {_message(error)}"
    if not code.startswith(_DOUBTFUL_CODES):
        return QueryFailedError(problem)
    return NoAnswerError(problem, timed_out="TimedOut" in code, reported=True)


def _message(error: Exception) -> str:
    """Return the error's message, on one line of bounded length."""
    message = (
        error.message
        if isinstance(error, driver_errors.Neo4jError) and error.message
        else str(error)
    )
    return " ".join(message.split())[:_MAX_MESSAGE] or type(error).__name__


def _graph_value(value: Any) -> GraphValue | None:  # noqa: ANN401 - any value of the driver
    """Return the driver's value as one of `rows`, one level deep; None for plain values."""
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

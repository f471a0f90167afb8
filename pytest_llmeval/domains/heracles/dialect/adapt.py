"""A query for Neo4j 5, made ready for ArcadeDB."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pytest_llmeval.domains.heracles.dialect.analysis import Analysis
from pytest_llmeval.domains.heracles.dialect.parser import parse, skip_prefix
from pytest_llmeval.domains.heracles.dialect.reader import Reader
from pytest_llmeval.domains.heracles.dialect.refusal import RefusedError, StoppedError
from pytest_llmeval.domains.heracles.dialect.rewrites import Rewriting
from pytest_llmeval.domains.heracles.dialect.syntax import Projection, Query
from pytest_llmeval.domains.heracles.dialect.wording import Wording
from pytest_llmeval.domains.heracles.tokens import UnreadableError, decoded


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapted:
    """What to send, and what to think of the answer.

    `refusal` is Neo4j's error: then nothing is to be sent, but for `needs_rows`, which tells that
    Neo4j comes to the error only if there are rows. `doubt` tells why the rows may not be Neo4j's.
    `columns` are the names of the result's columns as the query gives them, which an empty or
    rewritten result does not bring; none when they are not known.
    """

    text: str
    refusal: str | None = None
    needs_rows: bool = False
    doubt: str | None = None
    columns: tuple[str, ...] = ()


def adapt(written: str, properties: Mapping[str, str]) -> Adapted:
    """Return what ArcadeDB should be sent for a query that is meant for Neo4j 5.

    `properties` are the types of the values that the graph's properties hold, such as ``{"center":
    "Point"}``; those that hold several types are left out.
    """
    columns: tuple[str, ...] = ()
    text = _as_read(written)
    try:
        query, wording = parse(text), Wording(text)
        columns = _columns(query, wording)
        analysis = Analysis(wording, query, properties)
        rewriting = Rewriting(wording, analysis)
        sent = rewriting.text()
    except StoppedError as error:
        return Adapted(
            text=text, refusal=error.told(text), needs_rows=error.in_result, columns=columns
        )
    except RefusedError as error:
        return Adapted(text=text, refusal=error.told(text))
    except UnreadableError as error:
        return Adapted(text=text, doubt=f"it could not be read: {error}")
    except RecursionError:
        return Adapted(text=text, doubt="it nests too deeply to be checked")
    return Adapted(
        text=_without_version(sent),
        doubt="; ".join(dict.fromkeys(rewriting.doubts)) or None,
        columns=analysis.columns,
    )


def _as_read(written: str) -> str:
    r"""Return the query with its ``\uXXXX`` replaced, as it was written where that leaves half a character."""
    text = decoded(written)
    return written if any("\ud800" <= character <= "\udfff" for character in text) else text


def _columns(query: Query, wording: Wording) -> tuple[str, ...]:
    """Return what the columns of the result are called, as far as they are named one by one."""
    last = query.parts[0].clauses[-1]
    if not isinstance(last, Projection) or last.star is not None:
        return ()
    return tuple(wording.column(item) for item in last.items)


def _without_version(text: str) -> str:
    """Return the query without a leading ``CYPHER 5``, which ArcadeDB does not know."""
    reader = Reader(text)
    if not reader.at_word("CYPHER"):
        return text
    skip_prefix(reader)
    return text[reader.start :]

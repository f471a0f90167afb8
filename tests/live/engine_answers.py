"""Answers of an engine in a form that can be compared with those of another, and stored."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any, Literal

import neo4j
from neo4j.graph import Node, Path, Relationship
from neo4j.spatial import Point

from pytest_llmeval.domains.heracles.bolt import Bolt

SECONDS = 5.0
DIGITS = 5
"""Significant digits of a number that count: sums may be added up in another order."""

ERROR_CHARACTERS = 200

Kind = Literal["good", "wrong rows", "wrongly accepted", "refused by both", "refused by ArcadeDB"]
"""How ArcadeDB, asked as a query is written, compares with Neo4j."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A digest of the rows, or the error; rows and items of lists count in any order."""

    digest: str = ""
    rows: int = 0
    error: str = ""

    def agrees(self, other: Answer) -> bool:
        return bool(self.error) == bool(other.error) and self.digest == other.digest


async def answer(bolt: Bolt, cypher: str) -> Answer:
    """Ask a query as it is written, read-only."""
    try:
        async with bolt.session(access=neo4j.READ_ACCESS) as session:
            query = neo4j.Query(cypher, timeout=SECONDS)
            result = await session.run(query)
            rows = [[_plain(value) for value in record.values()] async for record in result]
    except (neo4j.exceptions.Neo4jError, neo4j.exceptions.DriverError) as error:
        message = " ".join(str(getattr(error, "message", error)).split())
        text = f"{getattr(error, 'code', '')}: {message}"
        return Answer(error=text[:ERROR_CHARACTERS])
    return Answer(digest=hashlib.sha256(_ordered(rows).encode()).hexdigest()[:16], rows=len(rows))


def kind_of(truth: Answer, raw: Answer) -> Kind:
    """Compare ArcadeDB's `raw` answer with Neo4j's `truth`."""
    if truth.error:
        return "refused by both" if raw.error else "wrongly accepted"
    if raw.error:
        return "refused by ArcadeDB"
    return "good" if truth.agrees(raw) else "wrong rows"


def _ordered(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(sorted(map(_ordered, value)))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key}: {_ordered(value[key])}' for key in sorted(value))}}}"
    return json.dumps(value)


def _plain(value: Any) -> Any:  # noqa: PLR0911 - one return a type
    match value:
        case bool() | str() | None:
            return value
        case int() | float():
            return f"{value:.{DIGITS}g}"
        case Node():
            return {"node": value.get("nodeSymbol")}
        case Relationship():
            return {"relationship": value.type}
        case Path():
            return {"path": "-".join(str(node.get("nodeSymbol")) for node in value.nodes)}
        case Point():
            return {"point": " ".join(f"{axis:.{DIGITS}g}" for axis in value)}
        case list():
            return [_plain(item) for item in value]
        case dict():
            return {key: _plain(item) for key, item in value.items()}
        case _:
            return str(value)

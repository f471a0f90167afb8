"""A model's Cypher: extracted from its reply, and checked before it is sent to a database.

The check is on tokens, so that it ignores words inside strings, comments, backquoted names,
properties, labels and variables. It comes in addition to a read-only login: READ access allows
SHOW, LOAD CSV and many procedures, and deep nesting hangs a server for good (measured on Neo4j 5.26
and ArcadeDB 26.10).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from pytest_llmeval.domains.heracles.clauses import clause_words, forbidden_clause
from pytest_llmeval.domains.heracles.nesting import too_deep
from pytest_llmeval.domains.heracles.tokens import END, Token, UnreadableError, decoded, read_tokens
from pytest_llmeval.task.answers import tagged

MAX_BYTES: Final = 64_000
"""Most UTF-8 bytes of a query.

Unterminated strings ten times as long kept a server busy for over a minute.
"""

MAX_TOKENS: Final = 2_000
"""Most words and signs of a query; models need some hundred.

Neo4j plans 4,000 ANDs for over ten seconds, and then hangs.
"""

VERSION: Final = "5"
"""Version of the language that queries are checked as."""

MISSING_TAGS: Final = "the reply holds no query between <answer> and </answer>"

_FENCE = re.compile(r"\A```[^\n`]*\n(?P<code>.*?)\n?[ \t]*```\Z", re.DOTALL)

# Procedures that read the schema and nothing else.
_PROCEDURES = frozenset(
    {
        "db.labels",
        "db.propertykeys",
        "db.relationshiptypes",
        "db.schema.nodetypeproperties",
        "db.schema.reltypeproperties",
        "db.schema.visualization",
    }
)
# Namespaces whose functions compute values; all others (apoc, dbms, util and those of a server's
# plugins) are refused.
_NAMESPACES = frozenset(
    {"point", "date", "datetime", "localdatetime", "localtime", "time", "duration", "vector"}
)


def extract_query(reply: str) -> str | None:
    """Return the query between the reply's last pair of answer tags, without code fences.

    None when there is none.
    """
    text = tagged(reply)
    if text is None:
        return None
    fenced = _FENCE.match(text)
    query = (fenced["code"] if fenced else text).strip()
    # Models wrap a one-line query in single backquotes as often as in a fence.
    if query.startswith("`") and query.endswith("`") and query.count("`") == len("``"):
        query = query[1:-1].strip()
    return query or None


def preflight(cypher: str) -> str | None:
    r"""Return why a query must not run, or None.

    Refused: whatever writes or administers, LOAD CSV, procedures but those that read the schema,
    functions of foreign namespaces, the old ``distance()``, a second statement, and what is too
    long or too deep. Neo4j replaces ``\uXXXX`` before it reads tokens, so the text is checked with
    and without that.
    """
    try:
        size = len(cypher.encode())
    except UnicodeEncodeError:
        return "the query holds half a character (a lone surrogate)"
    if size > MAX_BYTES:
        return f"the query is {size} bytes long; at most {MAX_BYTES} are run"
    read = decoded(cypher)
    return _refusal(cypher) or (_refusal(read) if read != cypher else None)


def _refusal(text: str) -> str | None:
    try:
        tokens = read_tokens(text)
    except UnreadableError as error:
        return str(error)
    while tokens and tokens[-1].is_sign(";"):
        tokens.pop()
    if not tokens:
        return "the query is empty"
    if len(tokens) > MAX_TOKENS:
        return f"the query has {len(tokens)} words and signs; at most {MAX_TOKENS} are run"
    if any(token.is_sign(";") for token in tokens):
        return "only one statement is run at a time"
    start = _end_of_options(tokens)
    query = tokens[start:]
    clauses = clause_words(query)
    return (
        too_deep(tokens)
        or _other_language(tokens[:start])
        or forbidden_clause(query, clauses)
        or _forbidden_call(query, clauses)
    )


def _end_of_options(tokens: Sequence[Token]) -> int:
    """Return where the query begins behind EXPLAIN, PROFILE and ``CYPHER 5 runtime=slotted``.

    All of them only read: EXPLAIN gives no rows, and options choose how a query is planned.
    """
    index = 0
    while index < len(tokens) and tokens[index].word in {"EXPLAIN", "PROFILE", "CYPHER"}:
        options = tokens[index].word == "CYPHER"
        index += 1
        if options and index < len(tokens) and tokens[index].kind == "number":
            index += 1
        while options and index + 2 < len(tokens) and tokens[index + 1].is_sign("="):
            index += 3
    return index


def _other_language(options: Sequence[Token]) -> str | None:
    """Return the refusal of a version of Cypher that is not the one that is checked here."""
    for token, following in pairwise(options):
        if token.word == "CYPHER" and following.kind == "number" and following.text != VERSION:
            return f"CYPHER {following.text} must not be used: only Cypher {VERSION} is run"
    return None


def _forbidden_call(tokens: Sequence[Token], clauses: frozenset[int]) -> str | None:
    """Return the refusal of the first procedure or function that is not to be called."""
    for index, (token, following) in enumerate(pairwise([*tokens, END])):
        if token.word == "CALL" and not following.is_sign("(", "{") and index in clauses:
            name = _dotted_name(tokens, index + 1)
            if name.lower() not in _PROCEDURES:
                return f"the procedure {name} must not be called"
        elif token.is_name and following.is_sign("("):
            name = _dotted_name(tokens, _start_of_name(tokens, index))
            namespace, dot, _ = name.lower().partition(".")
            if dot and namespace not in _NAMESPACES and name.lower() not in _PROCEDURES:
                return f"the function {name}() must not be called"
            if namespace == "distance" and not dot:
                return "distance() does not exist; use point.distance()"
    return None


def _start_of_name(tokens: Sequence[Token], last: int) -> int:
    """Return where the dotted name begins that ends at `last`."""
    while last > 1 and tokens[last - 1].is_sign(".") and tokens[last - 2].is_name:
        last -= 2
    return last


def _dotted_name(tokens: Sequence[Token], start: int) -> str:
    """Return the dotted name that begins at `start`."""
    parts = [token.text for token in tokens[start : start + 1]]
    while start + 2 < len(tokens) and tokens[start + 1].is_sign("."):
        start += 2
        parts.append(tokens[start].text)
    return ".".join(parts)

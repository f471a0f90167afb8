"""The guard of Cypher: what it lets through has no clause that writes, by a reference grammar.

The grammar is that of ANTLR's collection (the package antlr4-cypher), made without knowledge of the
guard. It decides only about texts that it can read whole; the guard must also refuse the others in
which something writes, which the queries of the tests and a real Neo4j check.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import antlr4
import antlr4.error.ErrorListener
import antlr4_cypher
from domains.heracles.corpus import statements
from fuzz.splicing import splicing
from fuzz.target import Target, bytes_of, text_of

from pytest_llmeval.domains.heracles.query import extract_query, preflight

WRITES = re.compile(r"create|merge|set|delete|remove|call|foreach|load|drop", re.IGNORECASE)
"""Texts without any of these cannot write."""

MOST_OF_A_REASON = 1_000
SCHEMA_PROCEDURES = frozenset(
    f"db.{name}"
    for name in (
        *("labels", "propertykeys", "relationshiptypes", "schema.nodetypeproperties"),
        *("schema.reltypeproperties", "schema.visualization"),
    )
)
RULES = frozenset(antlr4_cypher.CypherParser.ruleNames)
CALLS = frozenset({"queryCallSt", "standaloneCall"})
WRITING_RULES = frozenset({"createSt", "mergeSt", "deleteSt", "setSt", "removeSt"})


def check(data: bytes) -> None:
    """Ask the guard about a query."""
    text = text_of(data)
    refusal = preflight(text)
    assert refusal is None or 0 < len(refusal) < MOST_OF_A_REASON, "an empty or endless reason"
    # A reply is read by the same rules, whatever it holds.
    found = extract_query(f"<answer>{text}</answer>")
    assert found is None or found == found.strip()
    if refusal is None and WRITES.search(text):
        clauses = clauses_of(text)
        assert clauses.isdisjoint(WRITING_RULES), f"the guard lets through {clauses}"
        assert clauses - RULES <= SCHEMA_PROCEDURES, f"the guard lets a call through: {clauses}"


class Unread(antlr4.error.ErrorListener.ErrorListener):  # type: ignore[misc] # it has no types
    """Ends the reading at the first error."""

    def syntaxError(self, *_: object) -> None:  # noqa: N802 - antlr4's name
        """Raise what a parser raises that gives up."""
        raise antlr4.error.Errors.ParseCancellationException(str(_[-2]))


def clauses_of(text: str) -> set[str]:
    """Return the grammar's rules that a text consists of, and the procedures that it calls.

    There are none for a text that the grammar cannot read whole.
    """
    lexer = antlr4_cypher.CypherLexer(antlr4.InputStream(text))
    parser = antlr4_cypher.CypherParser(antlr4.CommonTokenStream(lexer))
    for one in (lexer, parser):
        one.removeErrorListeners()
        one.addErrorListener(Unread())
    try:
        waiting = [parser.script()]
    except (antlr4.error.Errors.ParseCancellationException, RecursionError):
        return set()
    found = set()
    while waiting:
        node = waiting.pop()
        if isinstance(node, antlr4.ParserRuleContext):
            rule = parser.ruleNames[node.getRuleIndex()]
            found.add(rule)
            if rule in CALLS:
                found.add(node.invocationName().getText().replace("`", "").lower())
            waiting += node.getChildren()
    return found


def seeds() -> Iterator[bytes]:
    """Yield the queries of the tests: harmless ones, and those that must be refused."""
    for name in ("harmless.txt", "forbidden.txt", "writing.txt"):
        for statement in statements(name):
            if len(statement) <= TARGET.longest:
                yield bytes_of(statement)


WORDS = (
    *(" CREATE ", " MERGE ", " SET ", " DELETE ", " DETACH DELETE ", " REMOVE ", " FOREACH "),
    *(" MATCH ", " WHERE ", " WITH ", " RETURN ", " UNWIND ", " AS ", " CALL ", " YIELD "),
    *(" UNION ", " IN ", " CASE WHEN ", " THEN ", " END ", " OR ", " NOT ", " DROP INDEX "),
    *("(n)", "n.x = 1", "-[r]->", "{", "}", "[", "]", "`", "'", "/*", "*/", "//", "\\u0053"),
    *("EXISTS {", "COUNT {", " ON CREATE ", " LOAD CSV FROM ", "\u017fET", ";", " | ", ":Set"),
)
TARGET = Target(
    check=check,
    seeds=seeds,
    mutate=splicing(seeds, WORDS),
    words=WORDS,
    longest=400,
)

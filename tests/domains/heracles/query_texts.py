"""Cypher texts made from the manual's clauses and its rules of identifiers, for hypothesis.

Any keyword may name a variable, a property, a label, a type, a key, a parameter or an alias. Words
may be written in any case, with comments and any white space between them, names in backquotes, and
characters by their number.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from hypothesis import strategies as st


def _words(text: str) -> list[str]:
    return text.split()


WRITING = _words(
    """
    create merge set delete detach nodetach remove foreach drop insert truncate upsert load
    csv
    """
)
ADMINISTERING = _words(
    """
    alter begin commit deallocate deny dryrun enable grant reallocate rename revoke rollback
    session show start stop terminate use
    """
)
STRUCTURING = _words(
    """
    and as asc ascending by call case contains desc descending distinct else end ends exists
    in is limit match not offset on optional or order return skip starts then union unwind
    using when where with xor yield
    """
)
ORDINARY = _words(
    """
    n room délete created_by setting _x1
    """
)

READING = (
    # variables of nodes, relationships, paths
    "MATCH ({v}) RETURN {v}",
    "MATCH ({v}:{l}) RETURN {v}.{p} AS {a} ORDER BY {a} DESC LIMIT 3",
    "MATCH ({v}:{l} {{{p}: 'x'}}) WHERE {v}.{p} = 'x' AND {v} IS NOT NULL RETURN count({v}) AS {a}",
    "MATCH ({v})-[{w}:{t}]->(x) WHERE type({w}) = 'X' RETURN {v}, {w}",
    "MATCH ({v})-[{w}:{t}*1..3]->(x) RETURN {v} SKIP 1 LIMIT 2",
    "MATCH ({v}), ({w}) WHERE {v} <> {w} RETURN {v}, {w}",
    "MATCH {v} = (a)-[:{t}]->(b) RETURN length({v})",
    "MATCH {v} = shortestPath((a)-[*..4]-(b)) WHERE a <> b RETURN nodes({v})",
    "MATCH ({v}) WHERE {v}:{l} OR {v}.{p} STARTS WITH 'k' RETURN {v}",
    "MATCH ({v}) WHERE NOT {v}.{p} IN ['a', 'b'] XOR {v}.{p} ENDS WITH 'a' RETURN {v}",
    "MATCH ({v}) WHERE ({v})-[:{t}]->() RETURN {v}",
    # variables between two words
    "MATCH ({v}) WITH {v} RETURN {v}",
    "MATCH ({v}) WITH {v} WHERE {v}.{p} > 1 RETURN {v}",
    "MATCH ({v}) WITH DISTINCT {v} ORDER BY {v}.{p} RETURN {v}",
    "MATCH ({v}) WITH {v} ORDER BY {v} SKIP 1 LIMIT 1 MATCH ({v})--(x) RETURN x",
    "MATCH ({v}) WITH {v} OPTIONAL MATCH ({v})--({w}) WITH {v}, {w} RETURN {w}",
    "MATCH (x) WITH x, x.{p} AS {a} WHERE {a} IS NULL RETURN x, {a} AS {v}",
    "UNWIND [1] AS {v} WITH {v} AS {w} WHERE {w} > 1 RETURN {w} AS {a} UNION ALL RETURN 1 AS {a}",
    "UNWIND [[1]] AS {v} UNWIND {v} AS {w} RETURN {w} + {w} * {w} AS {a}",
    "WITH 1 AS {v}, 2 AS {w} RETURN CASE WHEN {v} = {w} THEN {v} ELSE {w} END AS {a}",
    "WITH 1 AS {v} RETURN CASE {v} WHEN 1 THEN {v} ELSE {v} END AS {a}",
    "WITH true AS {v} RETURN NOT {v} AND {v} OR {v} AS {a}",
    "WITH [1] AS {v} RETURN 1 IN {v} AS {a}",
    "WITH 'x' AS {v} RETURN 'xyz' CONTAINS {v} AND 'x' STARTS WITH {v} AS {a}",
    "MATCH ({v}) RETURN {v}.{p} AS {a} UNION MATCH ({v}) RETURN {v}.{q} AS {a}",
    "MATCH ({v}) RETURN * ORDER BY {v}",
    "MATCH ({v}) RETURN (1 + 2) * {v}.{p} AS {a}",
    "WITH 3 AS {v} RETURN (1 + 2) * {v} AS {a}",
    "WITH 3 AS {v} RETURN size([1]) + {v} - {v} / {v} % {v} ^ {v} AS {a}",
    # inside expressions
    "RETURN [{v} IN [1, 2] WHERE {v} > 1 | {v} * 2] AS {a}",
    "RETURN any({v} IN [1] WHERE {v} = 1) AS {a}",
    "RETURN reduce({v} = 0, {w} IN [1, 2] | {v} + {w}) AS {a}",
    "WITH [1, 2, 3] AS {v}, 1 AS {w} RETURN {v}[{w}], {v}[0..{w}], {v}[{w}..] AS {a}",
    "MATCH (x) RETURN [(x)-[:{t}]->({v}) WHERE {v}.{p} = 1 | {v}.{q}] AS {a}",
    "RETURN {{{p}: 1, {q}: [1], k: {{{p}: 2}}}} AS {a}",
    "MATCH ({v}) RETURN {v} {{.{p}, {q}: 1, .*}} AS {a}",
    "WITH 1 AS {v} MATCH (x) RETURN x {{{v}, .{p}}} AS {a}",
    "MATCH (x) WHERE x.{p} = ${v} RETURN x",
    "MATCH (x:{l}|{t}) WHERE x.{p} IS :: INTEGER NOT NULL RETURN x.{q} AS {a}",
    "MATCH (x:!{l}&!{t}) RETURN x",
    "MATCH (x) WHERE x.{p} IS NOT NULL AND x.{q} =~ '.*' RETURN x",
    # subqueries
    "MATCH ({v}) CALL {{ WITH {v} MATCH ({v})--(x) RETURN count(x) AS {a} }} RETURN {a}",
    "MATCH ({v}) CALL ({v}) {{ MATCH ({v})--(x) RETURN count(x) AS {a} }} RETURN {a}",
    "MATCH ({v}) WHERE EXISTS {{ ({v})-[:{t}]->(x) WHERE x.{p} = 1 }} RETURN {v}",
    "MATCH ({v}) RETURN COUNT {{ MATCH ({v})--({w}) WHERE {w}.{p} = 1 }} AS {a}",
    "MATCH ({v}) RETURN COLLECT {{ MATCH ({v})--(x) RETURN x.{p} }} AS {a}",
    "CALL db.labels() YIELD label AS {v} WITH {v} WHERE {v} <> 'x' RETURN {v} AS {a}",
    "MATCH ({v}:{l}) WHERE ({v}.{p}) IS NOT NULL RETURN ({v}).{p} AS {a}",
)
"""Queries that only read; v, w: variables, a: an alias, p, q: properties, l: a label, t: a type."""

BEFORE = (
    "MATCH ({v})",
    "MATCH ({v}:{l} {{{p}: 1}})",
    "MATCH ({v})-[x:{t}]->(y)",
    "MATCH ((a)-[:{t}]->({v}))+ WITH {v}[0] AS {v}",
    "MATCH ({v}) WITH {v}",
    "MATCH ({v}) WITH *",
    "MATCH ({v}) WITH {v} ORDER BY {v}.{p} DESC",
    "MATCH ({v}) WITH {v} ORDER BY {v}.{p} SKIP 1 LIMIT 1",
    "MATCH ({v}) WITH {v}, {v}.{p} AS {a} WHERE {a}",
    "MATCH ({v}) WITH {v}, true AS {a} WHERE {a}",
    "MATCH ({v}) WITH {v}, true AS {a} WHERE true AND {a}",
    "MATCH ({v}) WITH {v}, true AS {a} WHERE true XOR {a}",
    "MATCH ({v}) WITH {v}, [1] AS {a} WHERE 1 IN {a}",
    "MATCH ({v}) WITH {v}, 1 AS {a} LIMIT 1",
    "MATCH ({v}) WHERE {v}.{p} = 1",
    "MATCH ({v}) WHERE {v}:{l}",
    "MATCH ({v}) WHERE {v} IS {l}",
    "MATCH ({v}) WHERE {v}:{l}|{t}",
    "MATCH ({v}) WHERE {v}:{l}&!{t}",
    "MATCH ({v}) WHERE {v}:%",
    "MATCH ({v}) WHERE {v}.{p} IS NULL",
    "MATCH ({v}) WHERE {v}.{p} IS NOT NULL",
    "MATCH ({v}) WHERE {v}.{p} IS :: LIST<INTEGER>",
    "MATCH ({v}) WHERE {v}.{p} IS :: INTEGER!",
    "MATCH ({v}) WHERE {v}.{p} IS :: INTEGER NOT NULL",
    "MATCH ({v}) WHERE {v}.{p} IS TYPED INTEGER LIST",
    "MATCH ({v}) WHERE {v}.{p} IS :: LIST<STRING NOT NULL>",
    "MATCH ({v}) WHERE {v}.{p} IS NFC NORMALIZED",
    "MATCH ({v}) WHERE {v}.{p} IN ['x']",
    "MATCH ({v}) WHERE {v}.{p} =~ 'x'",
    "MATCH ({v}) WHERE {v}.{p} > 1.5",
    "MATCH ({v}) WHERE {v}.{p} = $p",
    "MATCH ({v}) WHERE EXISTS {{ ({v})--() }}",
    "MATCH ({v}) WHERE CASE WHEN true THEN false ELSE true END",
    "MATCH ({v}) WHERE any({a} IN [1] WHERE {a} = 1)",
    "MATCH ({v}) CALL {{ RETURN 1 AS {a} }}",
    "MATCH ({v}) CALL ({v}) {{ WITH {v} AS {a} RETURN {a} }}",
    "MATCH ({v}) UNWIND [1] AS {a}",
    "MATCH ({v}) UNWIND [1] AS {a} WITH {v}, {a}",
    "OPTIONAL MATCH ({v})",
    "MATCH ({v}) CALL db.labels() YIELD label",
    "MATCH ({v}) CALL db.labels() YIELD label AS {a}",
    "MATCH ({v}) USING SCAN {v}:{l} WHERE {v}.{p} = 1",
)
"""Queries that read up to the place where a clause may begin; `v` is a node, `a` a value."""

CHANGING = (
    "CREATE (:Evil)",
    "CREATE ({v})-[:EVIL]->(:Evil)",
    "CREATE evil = (:Evil)",
    "MERGE (:Evil)",
    "MERGE evil = (:Evil {{x: 1}})",
    "SET {v}.{q} = 1",
    "SET {v} += {{x: 1}}",
    "SET {v}:Evil",
    "SET ({v}).{q} = 1",
    "SET {v}['x'] = 1",
    "REMOVE {v}.{q}",
    "REMOVE {v}:Evil",
    "DELETE {v}",
    "DETACH DELETE {v}",
    "NODETACH DELETE {v}",
    "FOREACH (evil IN [1] | SET {v}.{q} = evil)",
    "CALL {{ CREATE (:Evil) }}",
    "CALL ({v}) {{ SET {v}.{q} = 1 }}",
    "CALL db.createLabel('Evil')",
    "LOAD CSV FROM 'file:///etc/passwd' AS evil",
    "LOAD CSV WITH HEADERS FROM 'file:///etc/passwd' AS evil",
)
"""Clauses that change the graph or reach outside."""

PREFIXES = (
    *("", "EXPLAIN ", "PROFILE ", "CYPHER 5 ", "CYPHER runtime=slotted ", "CYPHER planner=cost "),
    *("CYPHER 5 runtime=pipelined planner=idp ", "EXPLAIN CYPHER 5 ", "CYPHER 5 EXPLAIN "),
)
ENDS = ("", ";", " ;\n", "; // done", " /* done */", " // done", ";\n/* a; b */\n")
GAPS = (" ", "  ", "\n", "\t", "\r\n", "/**/", " /* CREATE (x) */ ", " // '\n", "/* ` */", "\u00a0")

_SLOT = re.compile(r"\{([a-z])\}")
_PIECES = re.compile(r"'[^']*'|`[^`]*`|\w+|\s+|.", re.DOTALL)


@dataclass(frozen=True)
class Text:
    """A text as it is sent, and the words of its template without disguise."""

    sent: str
    plain: str


def names(*kinds: list[str]) -> st.SearchStrategy[str]:
    """Return names of these kinds, in any case, some in backquotes."""
    words = st.sampled_from([name for kind in kinds for name in kind])
    return st.tuples(words, st.sampled_from([str.lower, str.upper, str.title, "`{}`".format])).map(
        lambda chosen: chosen[1](chosen[0])
    )


@st.composite
def reading(draw: st.DrawFn) -> Text:
    """Return a query that only reads, with words that administer or write as names."""
    plain = draw(st.sampled_from(PREFIXES)) + _filled(
        draw, draw(st.sampled_from(READING)), names(WRITING, ADMINISTERING, ORDINARY)
    )
    return Text(draw(_disguised(plain)) + draw(st.sampled_from(ENDS)), plain)


@st.composite
def changing(draw: st.DrawFn) -> Text:
    """Return a query that changes the graph, with any keyword as a name."""
    before, clause = draw(st.sampled_from(BEFORE)), draw(st.sampled_from(CHANGING))
    plain = draw(st.sampled_from(PREFIXES)) + _filled(
        draw, f"{before} {clause}", names(WRITING, ADMINISTERING, STRUCTURING, ORDINARY)
    )
    return Text(draw(_disguised(plain, numbers=True)) + draw(st.sampled_from(ENDS)), plain)


def _filled(draw: st.DrawFn, template: str, named: st.SearchStrategy[str]) -> str:
    """Fill the slots of a template: the same name for the same letter, no name for two."""
    slots = sorted(set(_SLOT.findall(template)))
    fold = st.lists(
        named,
        min_size=len(slots),
        max_size=len(slots),
        unique_by=lambda name: name.strip("`").casefold(),
    )
    return template.format(**dict(zip(slots, draw(fold), strict=True)))


@st.composite
def _disguised(draw: st.DrawFn, plain: str, *, numbers: bool = False) -> str:
    """Write gaps and characters in other ways that mean the same."""
    gaps = st.sampled_from(GAPS)
    written: list[str] = []
    for piece in _PIECES.findall(plain):
        if piece.isspace():
            divides = written[-1:] == ["/"]  # with a comment right behind it, it would begin one
            written.append(" " * divides + draw(gaps))
        elif numbers and piece.isalpha() and draw(st.integers(0, 9)) == 0:
            place = draw(st.integers(0, len(piece) - 1))
            number = rf"\u{ord(piece[place]):04x}"
            written.append(piece[:place] + number + piece[place + 1 :])
        else:
            written.append(piece)
    return "".join(written)

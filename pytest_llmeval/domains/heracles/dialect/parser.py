"""Queries of Cypher 5 that read: clauses in a row, UNION, subqueries.

No library does it: those on PyPI refuse correct Neo4j 5 queries or know no scopes
(docs/decisions.md has the figures). What Neo4j 5.26 accepts was measured; updating clauses never
reach this parser.
"""

from __future__ import annotations

from typing import Final, Literal, cast

from pytest_llmeval.domains.heracles.dialect import expressions, patterns
from pytest_llmeval.domains.heracles.dialect.reader import Reader
from pytest_llmeval.domains.heracles.dialect.refusal import RefusedError
from pytest_llmeval.domains.heracles.dialect.syntax import (
    CallProcedure,
    CallSubquery,
    Clause,
    Expression,
    Finish,
    Item,
    Match,
    Path,
    Projection,
    Query,
    SingleQuery,
    Unwind,
    Variable,
)

_CLAUSES: Final = "a clause such as 'CALL', 'MATCH', 'OPTIONAL', 'RETURN', 'UNWIND' or 'WITH'"
_PREFIXES: Final = ("EXPLAIN", "PROFILE")


def parse(text: str) -> Query:
    """Return the query in `text`; RefusedError when Neo4j's grammar has no such query, UnreadableError from tokens."""
    reader = Reader(text)
    skip_prefix(reader)
    query = _query(reader)
    if reader.peek().text:
        raise reader.unexpected(_CLAUSES)
    return query


def skip_prefix(reader: Reader) -> None:
    """Move behind a leading ``CYPHER 5``, EXPLAIN or PROFILE."""
    if reader.take_word("CYPHER") and reader.peek().kind == "number":
        reader.next()
    while reader.peek().word in _PREFIXES:
        reader.next()


def inner_query(reader: Reader) -> Query:
    """Read what stands inside EXISTS, COUNT or COLLECT: a query, or a bare pattern with a WHERE."""
    if reader.peek().word in {"MATCH", "OPTIONAL", "WITH", "UNWIND", "CALL", "RETURN"} and not (
        reader.peek(1).is_sign("=")
    ):
        return _query(reader)
    match = _patterns(reader, reader.start, optional=False)
    single = SingleQuery(start=match.start, end=match.end, clauses=(match,))
    return Query(start=match.start, end=match.end, parts=(single,))


def _query(reader: Reader) -> Query:
    start = reader.start
    parts = [_single(reader)]
    unions, keeps_all = [], []
    while reader.at_word("UNION"):
        unions.append(reader.next().start)
        keeps_all.append(reader.take_word("ALL"))
        reader.take_word("DISTINCT")
        parts.append(_single(reader))
    return Query(
        start=start,
        end=reader.end,
        parts=tuple(parts),
        unions=tuple(unions),
        keeps_all=tuple(keeps_all),
    )


def _single(reader: Reader) -> SingleQuery:
    start = reader.start
    clauses: list[Clause] = []
    while not (reader.at_word("UNION") or reader.at_sign("}") or not reader.peek().text):
        clauses.append(_clause(reader))
    if not clauses:
        raise reader.unexpected(_CLAUSES)
    return SingleQuery(start=start, end=reader.end, clauses=tuple(clauses))


def _clause(reader: Reader) -> Clause:  # noqa: PLR0911 - one return a clause
    start = reader.start
    match reader.peek().word:
        case "OPTIONAL" if reader.peek(1).word == "MATCH":
            reader.next()
            reader.next()
            return _patterns(reader, start, optional=True)
        case "OPTIONAL" if reader.peek(1).word == "CALL":
            reader.next()
            return _call(reader, start, optional=True)
        case "MATCH":
            reader.next()
            return _patterns(reader, start, optional=False)
        case "UNWIND":
            return _unwind(reader)
        case "WITH" | "RETURN":
            return _projection(reader)
        case "ORDER" | "SKIP" | "OFFSET" | "LIMIT":
            return _rest_of_projection(reader, start, "WITH", implied=True)
        case "CALL":
            return _call(reader, start, optional=False)
        case "FINISH":
            reader.next()
            return Finish(start=start, end=reader.end)
        case _:
            raise reader.unexpected(_CLAUSES)


def _patterns(reader: Reader, start: int, *, optional: bool) -> Match:
    if reader.at_word("DIFFERENT", "RELATIONSHIPS") or reader.at_word("REPEATABLE", "ELEMENTS"):
        mode = f"{reader.peek().word} {reader.peek(1).word}"
        msg = f"Match modes such as `{mode}` are not supported yet."
        raise RefusedError(msg, reader.start)
    paths: list[Path] = [patterns.path(reader)]
    while reader.take_sign(","):
        paths.append(patterns.path(reader))
    while reader.at_word("USING"):
        _hint(reader)
    patterns_end, where_start = reader.end, reader.start
    where = expressions.expression(reader) if reader.take_word("WHERE") else None
    return Match(
        start=start,
        end=reader.end,
        optional=optional,
        paths=tuple(paths),
        patterns_end=patterns_end,
        where_start=where_start,
        where=where,
    )


def _hint(reader: Reader) -> None:
    """Read ``USING INDEX r:Room(name)`` or the like."""
    reader.next()
    while reader.peek().is_name and reader.peek().word not in {
        "WHERE",
        "USING",
        "MATCH",
        "RETURN",
        "WITH",
        "OPTIONAL",
    }:
        reader.next()
        reader.take_sign(":")
        reader.take_sign(",")
        if reader.at_sign("("):
            while not reader.take_sign(")"):
                reader.next()


def _unwind(reader: Reader) -> Unwind:
    start = reader.next().start
    source = expressions.expression(reader)
    reader.need_word("AS")
    variable = reader.need_variable()
    return Unwind(start=start, end=reader.end, source=source, variable=variable)


def _projection(reader: Reader) -> Projection:
    token = reader.next()
    distinct = reader.at_word("DISTINCT") and not reader.peek(1).is_sign(",", ".")
    if distinct:
        reader.next()
    star = reader.end - 1 if reader.take_sign("*") else None
    items: list[Item] = []
    while (reader.take_sign(",")) if items or star is not None else True:
        items.append(_item(reader))
    kind = cast("Literal['WITH', 'RETURN']", token.word)
    return _rest_of_projection(
        reader, token.start, kind, distinct=distinct, star=star, items=tuple(items)
    )


def _item(reader: Reader) -> Item:
    start = reader.start
    value = expressions.expression(reader)
    alias = reader.need_variable() if reader.take_word("AS") else None
    return Item(start=start, end=reader.end, expression=value, alias=alias)


def _rest_of_projection(  # noqa: PLR0913 - what is read so far
    reader: Reader,
    start: int,
    kind: Literal["WITH", "RETURN"],
    *,
    distinct: bool = False,
    star: int | None = None,
    items: tuple[Item, ...] = (),
    implied: bool = False,
) -> Projection:
    """Read ORDER BY, SKIP, LIMIT and WHERE."""
    order = _order(reader)
    limits: list[Expression] = []
    if reader.at_word("SKIP") or reader.at_word("OFFSET"):
        reader.next()
        limits.append(expressions.expression(reader))
    if reader.take_word("LIMIT"):
        limits.append(expressions.expression(reader))
    where_start = reader.start
    where = expressions.expression(reader) if kind == "WITH" and reader.take_word("WHERE") else None
    return Projection(
        start=start,
        end=reader.end,
        kind=kind,
        distinct=distinct,
        star=start if implied else star,
        items=items,
        order=order,
        limits=tuple(limits),
        where_start=where_start,
        where=where,
        implied=implied,
    )


def _order(reader: Reader) -> tuple[Expression, ...]:
    found: list[Expression] = []
    if not reader.take_word("ORDER"):
        return ()
    reader.need_word("BY")
    while not found or reader.take_sign(","):
        found.append(expressions.expression(reader))
        if reader.peek().word in {"ASC", "ASCENDING", "DESC", "DESCENDING"}:
            reader.next()
    return tuple(found)


def _call(reader: Reader, start: int, *, optional: bool) -> CallSubquery | CallProcedure:
    reader.need_word("CALL")
    if not reader.at_sign("(", "{"):
        return _procedure(reader, start)
    imports: list[Variable] | None = None
    imports_all = False
    if reader.take_sign("("):
        imports, imports_all = [], reader.take_sign("*")
        while not reader.take_sign(")"):
            if imports:
                reader.need_sign(",")
            imports.append(reader.need_variable())
    reader.need_sign("{")
    query = _query(reader)
    reader.need_sign("}")
    return CallSubquery(
        start=start,
        end=reader.end,
        optional=optional,
        imports=None if imports is None else tuple(imports),
        imports_all=imports_all,
        query=query,
    )


def _procedure(reader: Reader, start: int) -> CallProcedure:
    name = reader.need_name().text
    while reader.take_sign("."):
        name += f".{reader.need_name().text}"
    arguments = expressions.expressions(reader, ")") if reader.take_sign("(") else ()
    yields: list[Variable] = []
    where: Expression | None = None
    if reader.take_word("YIELD"):
        while reader.take_sign("*") or not yields or reader.take_sign(","):
            if not reader.peek().is_name:
                break
            variable = reader.need_variable()
            yields.append(reader.need_variable() if reader.take_word("AS") else variable)
        where = expressions.expression(reader) if reader.take_word("WHERE") else None
    return CallProcedure(
        start=start,
        end=reader.end,
        name=name,
        arguments=arguments,
        yields=tuple(yields),
        where=where,
    )

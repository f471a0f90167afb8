"""What parts of a query look like: questions that the rewriting asks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from pytest_llmeval.domains.heracles.dialect.aggregation import aggregates
from pytest_llmeval.domains.heracles.dialect.syntax import (
    Binary,
    Call,
    Constant,
    Expression,
    MapOf,
    Match,
    NodePattern,
    Part,
    Path,
    PatternComprehension,
    PatternPredicate,
    Projection,
    Query,
    RelationshipPattern,
    SingleQuery,
    Subquery,
    Unary,
    Variable,
)

_PLAIN_NAME: Final = re.compile(r"[^\W\d]\w*")


def quoted(name: str) -> str:
    """Return a name as it stands in a query, in backquotes if it needs them."""
    return name if _PLAIN_NAME.fullmatch(name) else f"`{name.replace('`', '``')}`"


def variable_names(part: Part) -> Iterator[str]:
    """Yield the variables that a part names."""
    return (inner.name for inner in part.walk() if isinstance(inner, Variable))


def conjuncts(part: Expression | None) -> Iterator[Expression]:
    """Yield the conditions that AND joins."""
    match part:
        case None:
            return
        case Binary(operator="AND", left=left, right=right):
            yield from conjuncts(left)
            yield from conjuncts(right)
        case _:
            yield part


def has_pattern_in_alternative(part: Expression | None) -> bool:
    """Whether a condition joins a pattern comprehension by OR: Neo4j 5.26 finds too little if that is OPTIONAL."""
    alternatives = (
        condition
        for condition in conjuncts(part)
        if getattr(condition, "operator", "") in {"OR", "XOR"}
    )
    return any(
        isinstance(inner, PatternComprehension)
        for condition in alternatives
        for inner in condition.walk()
    )


def limits_length(part: Expression) -> bool:
    """Whether a condition only says how long a path may be at most: the shortest one fulfils it if any does."""
    match part:
        case (
            Binary(operator="<" | "<=", left=Call(name=name), right=Constant())
            | Binary(operator=">" | ">=", left=Constant(), right=Call(name=name))
        ):
            return name.lower() in {"length", "size"}
        case _:
            return False


def looping_nodes(path: Path) -> Iterator[NodePattern]:
    """Yield the second node of each hop that leads from a node to itself."""
    for before, hop, node in zip(path.elements, path.elements[1:], path.elements[2:], strict=False):
        if (
            isinstance(before, NodePattern)
            and isinstance(hop, RelationshipPattern)
            and isinstance(node, NodePattern)
            and hop.is_single
            and before.variable is not None
            and node.variable is not None
            and before.variable.name == node.variable.name
        ):
            yield node


def has_relationship_twice(part: Match) -> bool:
    """Whether one MATCH names a relationship twice, which then has to be two at once: Neo4j finds none."""
    names = [
        hop.variable.name
        for path in part.paths
        for hop in path.relationships()
        if hop.variable is not None and hop.is_single
    ]
    return len(set(names)) < len(names)


def bare_matches(query: Query) -> Iterator[Match]:
    """Yield the MATCHes that begin a subquery of an expression; `_subquery` looks after their nulls."""
    for part in query.walk():
        if isinstance(part, Subquery):
            yield from (
                clause
                for clause in (single.clauses[0] for single in part.query.parts)
                if isinstance(clause, Match)
            )


def counted_matches(query: Query) -> Iterator[Match]:
    """Yield the OPTIONAL MATCHes before a grouped count that need a WHERE: without, ArcadeDB forgets a node's label."""
    for part in query.walk():
        if isinstance(part, SingleQuery):
            for clause, following in pairwise(part.clauses):
                if (
                    isinstance(clause, Match)
                    and clause.optional
                    and clause.where is None
                    and _counts(following)
                ):
                    yield clause


def _counts(part: Part) -> bool:
    """Whether a part is a WITH that counts."""
    if not isinstance(part, Projection) or part.kind != "WITH":
        return False
    return any(
        call.name.lower() == "count" for item in part.items for call in aggregates(item.expression)
    )


def plain_patterns(query: Query) -> Iterator[PatternPredicate]:
    """Yield the patterns that ArcadeDB takes as they stand: in a WHERE, joined by AND, OR, XOR, NOT."""
    for part in query.walk():
        if isinstance(part, Match | Projection) and part.where is not None:
            yield from _plain(part.where)


def _plain(part: Expression) -> Iterator[PatternPredicate]:
    match part:
        case PatternPredicate():
            yield part
        case Binary(operator="AND" | "OR" | "XOR", left=left, right=right):
            yield from _plain(left)
            yield from _plain(right)
        case Unary(operator="NOT", operand=operand):
            yield from _plain(operand)


def is_flat(part: Expression) -> bool:
    """Whether a part is a point that is written out without a z."""
    if not (
        isinstance(part, Call)
        and part.name.lower() == "point"
        and isinstance(part.arguments[0], MapOf)
    ):
        return False
    return "z" not in part.arguments[0].keys

"""Where a query aggregates, and what may stand beside: Neo4j's rules of grouping."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_llmeval.domains.heracles.dialect.functions import AGGREGATES
from pytest_llmeval.domains.heracles.dialect.refusal import RefusedError
from pytest_llmeval.domains.heracles.dialect.scope import Scope
from pytest_llmeval.domains.heracles.dialect.syntax import (
    Call,
    Comprehension,
    Expression,
    Part,
    PatternComprehension,
    PatternPredicate,
    Projection,
    Property,
    Quantifier,
    Reduce,
    Subquery,
    Variable,
)
from pytest_llmeval.domains.heracles.dialect.wording import Wording, normal_name

_GROUPING = (
    "Aggregation column contains implicit grouping expressions. For example, in 'RETURN n.a, n.a + n.b + count(*)' the "
    "aggregation expression 'n.a + n.b + count(*)' includes the implicit grouping key 'n.b'. It may be possible to "
    "rewrite the query by extracting these grouping/aggregation expressions into a preceding WITH clause. Illegal "
    "expression(s): "
)
_BEHIND = (
    "In a WITH/RETURN with DISTINCT or an aggregation, it is not possible to access variables declared before the "
    "WITH/RETURN: "
)


def is_aggregate(part: Part) -> bool:
    """Whether a part is the call of an aggregating function."""
    return isinstance(part, Call) and part.name.lower() in AGGREGATES


def aggregates(part: Part) -> Iterator[Call]:
    """Yield the aggregating calls in a part, but not those of its subqueries."""
    if isinstance(part, Call) and is_aggregate(part):
        yield part
    if not isinstance(part, Subquery):
        for child in part.children():
            yield from aggregates(child)


def forbid_aggregates(part: Expression | None) -> None:
    """Refuse an aggregate where there are no groups."""
    for call in aggregates(part) if part is not None else ():
        msg = f"Invalid use of aggregating function {call.name}(...) in this context"
        raise RefusedError(msg, call.start)


def forbid_nested_aggregates(part: Expression) -> None:
    """Refuse an aggregate of an aggregate."""
    for call in aggregates(part):
        for inner in (inner for argument in call.arguments for inner in aggregates(argument)):
            raise RefusedError(
                "Can't use aggregate functions inside of aggregate functions.", inner.start
            )


def groups(projection: Projection) -> bool:
    """Whether a projection makes one row of several."""
    return projection.distinct or any(
        True for item in projection.items for _ in aggregates(item.expression)
    )


def check_grouping(wording: Wording, projection: Projection, scope: Scope) -> None:
    """Refuse an aggregate that stands beside a value which is no grouping key."""
    with_aggregate = [
        item for item in projection.items if any(True for _ in aggregates(item.expression))
    ]
    keys = {
        wording.normal(item.expression) for item in projection.items if item not in with_aggregate
    }
    if projection.star is not None:
        keys |= {normal_name(name) for name in scope}
    for item in with_aggregate:
        illegal = next(_beside(wording, item.expression, keys, frozenset()), None)
        if illegal is not None:
            raise RefusedError(f"{_GROUPING}{wording[illegal]}", item.start)


def _beside(wording: Wording, part: Part, keys: set[str], local: frozenset[str]) -> Iterator[Part]:
    """Yield the variables and properties in a part that neither an aggregate nor a grouping key covers."""
    if is_aggregate(part) or wording.normal(part) in keys:
        return
    if isinstance(part, Variable):
        if part.name not in local:
            yield part
    elif isinstance(part, Property) and isinstance(part.subject, Variable):
        if part.subject.name not in local and normal_name(part.subject.name) not in keys:
            yield part
    elif not isinstance(part, Subquery | PatternPredicate):
        local |= declared(part)
        for child in part.children():
            yield from _beside(wording, child, keys, local)


def declared(part: Part) -> frozenset[str]:
    """Return the names that an expression declares for what stands inside it."""
    match part:
        case Comprehension() | Quantifier():
            return frozenset((part.variable.name,))
        case Reduce():
            return frozenset((part.variable.name, part.accumulator.name))
        case PatternComprehension(path=path):
            variables = [path.variable, *(node.variable for node in path.nodes())]
            variables += [hop.variable for hop in path.relationships()]
            return frozenset(variable.name for variable in variables if variable is not None)
        case _:
            return frozenset()


def check_behind(
    wording: Wording, part: Expression, projection: Projection, before: Scope, after: Scope
) -> None:
    """Refuse what an ORDER BY or WHERE behind a grouping projection cannot see."""
    shown = {wording.normal(item.expression) for item in projection.items}
    _check_behind(wording, part, shown, before, frozenset(after))


def _check_behind(
    wording: Wording, part: Part, shown: set[str], before: Scope, names: frozenset[str]
) -> None:
    if wording.normal(part) in shown or isinstance(part, Subquery):
        return
    if isinstance(part, Variable) and part.name not in names:
        if part.name in before:
            raise RefusedError(f"{_BEHIND}{part.name}", part.start)
        raise RefusedError(f"Variable `{part.name}` not defined", part.start)
    names |= declared(part)
    for child in part.children():
        _check_behind(wording, child, shown, before, names)

"""The variables that a place in a query can use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from pytest_llmeval.domains.heracles.dialect.syntax import Binary, Expression, Predicate, Variable
from pytest_llmeval.domains.heracles.dialect.types import Type


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """What a variable holds; `nullable`: it may be null, as after OPTIONAL MATCH."""

    type: Type
    nullable: bool = False


Scope: TypeAlias = Mapping[str, Bound]


def without_nulls(scope: Scope, where: Expression | None) -> Scope:
    """Return the scope behind a WHERE: what it demands to be no null is none."""
    match where:
        case Binary(operator="AND", left=left, right=right):
            return without_nulls(without_nulls(scope, left), right)
        case Predicate(is_not_null=True, subject=Variable(name=name)) if name in scope:
            return {**scope, name: Bound(type=scope[name].type)}
        case _:
            return scope

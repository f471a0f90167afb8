"""The parts of a Cypher query, as `parser` reads them: clauses, patterns, expressions, with their place in the text."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Part:
    """A piece of the query, from character `start` up to `end`.

    Two are the same only if they are one object.
    """

    start: int
    end: int

    def children(self) -> Iterator[Part]:
        """Yield the parts directly inside, in the order of the text."""
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            for item in value if isinstance(value, tuple) else (value,):
                if isinstance(item, Part):
                    yield item

    def walk(self) -> Iterator[Part]:
        """Yield this part and all inside it, outer ones first."""
        yield self
        for child in self.children():
            yield from child.walk()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Constant(Part):
    """A number, string, truth value or null; `type` as Neo4j names it."""

    type: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Parameter(Part):
    """``$name``."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Variable(Part):
    """A variable where it is declared or used."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Property(Part):
    """``subject.key``."""

    subject: Expression
    key: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Index(Part):
    """``subject[index]``."""

    subject: Expression
    index: Expression


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Slice(Part):
    """``subject[lower..upper]``."""

    subject: Expression
    lower: Expression | None
    upper: Expression | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Unary(Part):
    """``NOT x``, ``-x``, ``+x``."""

    operator: str
    operand: Expression


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Binary(Part):
    """Two operands and the operator in capitals: arithmetic, comparison, truth, strings, IN."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Predicate(Part):
    """``IS NULL``, ``IS TYPED``, ``IS NORMALIZED``, a label: what is true or false of one value."""

    subject: Expression
    is_not_null: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Call(Part):
    """A function's call; `starred`: ``count(*)``."""

    name: str
    arguments: tuple[Expression, ...]
    distinct: bool = False
    starred: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ListOf(Part):
    """``[a, b]``."""

    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MapOf(Part):
    """``{key: value}``."""

    keys: tuple[str, ...]
    values: tuple[Expression, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MapProjection(Part):
    """``variable {.key, name: value, other}``; the plain keys do not matter here."""

    variable: Variable
    values: tuple[Expression, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Case(Part):
    """CASE; the `conditions` of a form with a subject are values, or comparisons of what stands for it (type Any)."""

    subject: Expression | None
    conditions: tuple[Expression, ...]
    results: tuple[Expression, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Comprehension(Part):
    """``[x IN source WHERE .. | result]``."""

    variable: Variable
    source: Expression
    where: Expression | None
    result: Expression | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Quantifier(Part):
    """``all|any|none|single(x IN source WHERE ..)``; `where` None when it is missing, which is an error."""

    kind: str
    variable: Variable
    source: Expression
    where: Expression | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reduce(Part):
    """``reduce(sum = start, x IN source | step)``."""

    accumulator: Variable
    initial: Expression
    variable: Variable
    source: Expression
    step: Expression


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PatternPredicate(Part):
    """A bare path as an expression: ``(a)-->(b)``, ``shortestPath(..)``."""

    path: Path


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PatternComprehension(Part):
    """``[(a)-->(b) WHERE .. | result]``."""

    path: Path
    where: Expression | None
    result: Expression


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Subquery(Part):
    """``EXISTS { }``, ``COUNT { }``, ``COLLECT { }``; a bare pattern inside is read as one MATCH."""

    kind: Literal["EXISTS", "COUNT", "COLLECT"]
    query: Query


Expression: TypeAlias = (
    Constant
    | Parameter
    | Variable
    | Property
    | Index
    | Slice
    | Unary
    | Binary
    | Predicate
    | Call
    | ListOf
    | MapOf
    | MapProjection
    | Case
    | Comprehension
    | Quantifier
    | Reduce
    | PatternPredicate
    | PatternComprehension
    | Subquery
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NodePattern(Part):
    """``(variable:Label {properties} WHERE ..)``; `dynamic`: a label is computed, ``$(..)``."""

    variable: Variable | None
    labels: str
    properties: Expression | None
    where: Expression | None
    dynamic: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RelationshipPattern(Part):
    """``-[variable:TYPE*1..2 {properties} WHERE ..]->``.

    `types` is the text of the type expression; `length` of ``*..``, `quantifier` of ``{..}``,
    ``+``, ``*`` behind the arrow; `arrows` is ``->``, ``<-``, or ``-`` for either way; `colon` is
    where a colon follows ``|``.
    """

    variable: Variable | None
    types: str
    types_start: int
    length: str | None
    properties: Expression | None
    where: Expression | None
    arrows: Literal["->", "<-", "-"]
    quantifier: str | None
    colon: int | None
    dynamic: bool = False

    @property
    def is_single(self) -> bool:
        """Whether it stands for exactly one relationship."""
        return self.length is None and self.quantifier is None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Group(Part):
    """``((a)-->(b) WHERE ..){1,3}``: a path in brackets, repeated if there is a `quantifier`."""

    path: Path
    where: Expression | None
    quantifier: str | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Path(Part):
    """``variable = SELECTOR (a)-->(b)``.

    `selector` is ``SHORTEST 1``, ``ANY``..., or empty; `function` is ``shortestPath``,
    ``allShortestPaths`` or empty; `body` is where the elements begin.
    """

    variable: Variable | None
    selector: str
    function: str
    elements: tuple[NodePattern | RelationshipPattern | Group, ...]
    body: int

    def nodes(self) -> Iterator[NodePattern]:
        """Yield the node patterns outside any group."""
        return (element for element in self.elements if isinstance(element, NodePattern))

    def node_names(self) -> Iterator[str]:
        """Yield the variables of the nodes outside any group."""
        return (node.variable.name for node in self.nodes() if node.variable is not None)

    def relationships(self) -> Iterator[RelationshipPattern]:
        """Yield the relationship patterns outside any group."""
        return (element for element in self.elements if isinstance(element, RelationshipPattern))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Match(Part):
    """MATCH; `where_start` is where the word WHERE stands, `patterns_end` where the patterns and hints end."""

    optional: bool
    paths: tuple[Path, ...]
    patterns_end: int
    where_start: int
    where: Expression | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Unwind(Part):
    """``UNWIND source AS variable``."""

    source: Expression
    variable: Variable


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Item(Part):
    """One column: an expression, and the variable it is named by, if it is."""

    expression: Expression
    alias: Variable | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Projection(Part):
    """WITH or RETURN; a standalone ORDER BY, SKIP or LIMIT is read as ``WITH *``, with `implied`.

    `star` is where ``*`` stands among the items.
    """

    kind: Literal["WITH", "RETURN"]
    distinct: bool
    star: int | None
    items: tuple[Item, ...]
    order: tuple[Expression, ...]
    limits: tuple[Expression, ...]
    where_start: int
    where: Expression | None
    implied: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CallSubquery(Part):
    """``CALL (a, b) { .. }``; `imports` None without brackets."""

    optional: bool
    imports: tuple[Variable, ...] | None
    imports_all: bool
    query: Query


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CallProcedure(Part):
    """``CALL name(..) YIELD a AS b WHERE ..``; without YIELD, columns come unnamed."""

    name: str
    arguments: tuple[Expression, ...]
    yields: tuple[Variable, ...]
    where: Expression | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Finish(Part):
    """FINISH."""


Clause: TypeAlias = Match | Unwind | Projection | CallSubquery | CallProcedure | Finish


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SingleQuery(Part):
    """Clauses, without UNION."""

    clauses: tuple[Clause, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Query(Part):
    """One or more queries joined by UNION; `unions` are the places of that word, `keeps_all` whether ALL follows it."""

    parts: tuple[SingleQuery, ...]
    unions: tuple[int, ...] = ()
    keeps_all: tuple[bool, ...] = ()

"""A query as Neo4j checks it before it runs: which variables each place sees, of which types, and what is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from pytest_llmeval.domains.heracles.dialect.aggregation import (
    aggregates,
    check_behind,
    check_grouping,
    forbid_aggregates,
    forbid_nested_aggregates,
    groups,
)
from pytest_llmeval.domains.heracles.dialect.inference import Inference
from pytest_llmeval.domains.heracles.dialect.refusal import RefusedError, StoppedError
from pytest_llmeval.domains.heracles.dialect.scope import Bound, Scope, without_nulls
from pytest_llmeval.domains.heracles.dialect.syntax import (
    CallProcedure,
    CallSubquery,
    Clause,
    Constant,
    Expression,
    Finish,
    Group,
    Item,
    Match,
    NodePattern,
    Path,
    PatternComprehension,
    PatternPredicate,
    Projection,
    Query,
    RelationshipPattern,
    SingleQuery,
    Subquery,
    Unary,
    Unwind,
    Variable,
)
from pytest_llmeval.domains.heracles.dialect.types import (
    ANY,
    BOOLEAN,
    INTEGER,
    NODE,
    PATH,
    RELATIONSHIP,
    Type,
    list_of,
)
from pytest_llmeval.domains.heracles.dialect.wording import Wording

_CONCLUSION = (
    "Query cannot conclude with {clause} (must be a RETURN clause, a FINISH clause, an update clause, a unit subquery "
    "call, or a procedure call with no YIELD)."
)
_COLONS = (
    "The semantics of using colon in the separation of alternative relationship types in conjunction with the use of "
    "variable binding, inlined property predicates, or variable length is no longer supported. Please separate the "
    "relationships types using `{types}` instead."
)
_IMPORTING = (
    "Importing WITH should consist only of simple references to outside variables. "
    "Aliasing or expressions are not supported."
)
# What stands inside these keeps seeing the variables around, whatever its WITHs pass on.
_SEES_OUTSIDE = ("EXISTS", "COUNT", "COLLECT")
_DUPLICATE = "Multiple result columns with the same name are not supported"
_ORDER_AGGREGATE = (
    "Cannot use aggregation in ORDER BY if there are no aggregate expressions in the preceding "
)


class Analysis:
    """What is known of a query's parts, once it was checked without a RefusedError.

    `types` of the expressions, `scopes` in which expressions and clauses stand, and `columns` of
    the whole result.
    """

    def __init__(self, wording: Wording, query: Query, properties: Mapping[str, str]) -> None:
        """Check `query`, which was parsed from the text of `wording`; `properties` are the scene's types by name."""
        self._wording = wording
        self._infer = Inference(
            properties, check_pattern=self._pattern_expression, check_subquery=self._subquery
        )
        self.query = query
        self.types, self.scopes = self._infer.types, self._infer.scopes
        self.columns = tuple(self._query(query, {}))

    def _query(
        self,
        query: Query,
        scope: Scope,
        *,
        within: str = "",
        outer: Scope | None = None,
        imports: bool = False,
    ) -> Scope:
        """Check a query and return its columns; `within` is what it is the body of, `outer` what it may import."""
        results = [
            self._single(single, scope, within=within, outer=outer, imports=imports)
            for single in query.parts
        ]
        for before, after in pairwise(query.keeps_all):
            if before != after:
                raise RefusedError("Invalid combination of UNION and UNION ALL", query.unions[1])
        for place, columns in zip(query.unions, results[1:], strict=True):
            if set(columns) != set(results[0]):
                raise RefusedError(
                    "All sub queries in an UNION must have the same return column names", place
                )
        return results[0]

    def _single(
        self, single: SingleQuery, scope: Scope, *, within: str, outer: Scope | None, imports: bool
    ) -> Scope:
        clauses = single.clauses
        _check_end(clauses, within)
        columns: Scope = {}
        for index, clause in enumerate(clauses):
            self.scopes[clause] = scope
            if isinstance(clause, Projection) and clause.kind == "RETURN":
                columns = self._result(clause, scope, within=within, outer=outer)
            elif index == 0 and imports and outer is not None and _imports(clause, outer):
                scope = self._import(clause, outer)
            else:
                scope = self._clause(clause, scope, within=within, outer=outer)
        return columns

    def _result(
        self, clause: Projection, scope: Scope, *, within: str, outer: Scope | None
    ) -> Scope:
        try:
            return self._projection(clause, scope, within=within, outer=outer)
        except StoppedError as error:
            error.in_result = not within
            raise

    def _import(self, clause: Clause, outer: Scope) -> Scope:
        """Return the scope behind the WITH that a CALL { } begins with."""
        assert isinstance(clause, Projection)  # noqa: S101 - by `_imports`
        self.scopes[clause] = outer
        if clause.star is not None:
            return dict(outer)
        for item in clause.items:
            if not isinstance(item.expression, Variable) or item.alias is not None:
                raise RefusedError(_IMPORTING, clause.start)
        return self._projection(clause, outer, within="", outer=None)

    def _clause(self, clause: Clause, scope: Scope, *, within: str, outer: Scope | None) -> Scope:
        match clause:
            case Match():
                return self._match(clause, scope)
            case Unwind():
                return self._unwind(clause, scope)
            case Projection():
                return self._projection(clause, scope, within=within, outer=outer)
            case CallSubquery():
                return self._call(clause, scope)
            case CallProcedure():
                return self._procedure(clause, scope)
            case Finish():
                return scope

    def _match(self, clause: Match, scope: Scope) -> Scope:
        inside = self._bind(clause.paths, scope)
        self._inline(clause.paths, inside)
        forbid_aggregates(clause.where)
        self._infer.condition(clause.where, inside)
        if clause.optional:
            return {
                **{name: Bound(type=inside[name].type, nullable=True) for name in inside},
                **scope,
            }
        met = {name for path in clause.paths for name in path.node_names()}
        known = {
            name: Bound(type=bound.type) if name in met else bound for name, bound in inside.items()
        }
        return without_nulls(known, clause.where)

    def _unwind(self, clause: Unwind, scope: Scope) -> Scope:
        forbid_aggregates(clause.source)
        kind = self._infer.type_of(clause.source, scope)
        _check_new(clause.variable, scope)
        inner = kind.inner if kind.name == "List" and kind.inner is not None else ANY
        return {**scope, clause.variable.name: Bound(type=inner)}

    def _projection(
        self, clause: Projection, scope: Scope, *, within: str, outer: Scope | None
    ) -> Scope:
        if clause.star is not None and not scope and not clause.implied and not clause.items:
            msg = f"{clause.kind} * is not allowed when there are no variables in scope"
            raise RefusedError(msg, clause.start)
        after: dict[str, Bound] = (
            {name: scope[name] for name in sorted(scope)} if clause.star is not None else {}
        )
        types = [self._infer.type_of(item.expression, scope) for item in clause.items]
        self._check_names(clause, within)
        for item, kind in zip(clause.items, types, strict=True):
            forbid_nested_aggregates(item.expression)
            _check_shadowing(item, within, outer)
            after[self._wording.column(item)] = _bound(item.expression, kind, scope)
        check_grouping(self._wording, clause, scope)
        self._check_behind(clause, scope, after)
        if clause.kind == "WITH" and within in _SEES_OUTSIDE and outer is not None:
            after = {**outer, **after}
        return without_nulls(after, clause.where)

    def _check_names(self, clause: Projection, within: str) -> None:
        for item in clause.items:
            needed = clause.kind == "WITH" or within == "CALL"
            if needed and item.alias is None and not isinstance(item.expression, Variable):
                what = "WITH" if clause.kind == "WITH" else "CALL { RETURN ... }"
                raise RefusedError(f"Expression in {what} must be aliased (use AS)", item.start)
        names = [self._wording.column(item) for item in clause.items]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise RefusedError(_DUPLICATE, clause.items[names.index(twice)].start)

    def _check_behind(self, clause: Projection, before: Scope, after: Scope) -> None:
        """Check ORDER BY, SKIP, LIMIT and WHERE of a projection."""
        grouping = groups(clause)
        behind = [*clause.order, *([clause.where] if clause.where is not None else [])]
        for part in behind:
            if grouping:
                check_behind(self._wording, part, clause, before, after)
        forbid_aggregates(clause.where)
        for part in clause.order:
            if any(True for _ in aggregates(part)) and not grouping:
                raise RefusedError(f"{_ORDER_AGGREGATE}{clause.kind}", clause.start)
            self._infer.type_of(part, {**before, **after})
        self._infer.condition(clause.where, {**before, **after})
        for part in clause.limits:
            _check_limit(self._wording, part)
            self._infer.type_of(part, {})

    def _call(self, clause: CallSubquery, scope: Scope) -> Scope:
        if clause.imports is None and not clause.imports_all:
            columns = self._query(clause.query, {}, within="CALL", outer=scope, imports=True)
        else:
            for variable in clause.imports or ():
                self._infer.type_of(variable, scope)
            names = (
                set(scope)
                if clause.imports_all
                else {variable.name for variable in clause.imports or ()}
            )
            inside = {name: scope[name] for name in scope if name in names}
            columns = self._query(clause.query, inside, within="CALL", outer=scope)
        added = {
            name: Bound(type=bound.type, nullable=bound.nullable or clause.optional)
            for name, bound in columns.items()
        }
        return {**scope, **added}

    def _procedure(self, clause: CallProcedure, scope: Scope) -> Scope:
        for argument in clause.arguments:
            self._infer.type_of(argument, scope)
        for variable in clause.yields:
            _check_new(variable, scope)
        inside = {**scope, **{variable.name: Bound(type=ANY) for variable in clause.yields}}
        self._infer.condition(clause.where, inside)
        return inside

    def _subquery(self, part: Subquery, scope: Scope) -> Type:
        columns = self._query(part.query, scope, within=part.kind, outer=scope)
        if part.kind == "COLLECT":
            if len(columns) != 1:
                raise RefusedError(
                    "A Collect Expression must end with a single return column.", part.start
                )
            return list_of(next(iter(columns.values())).type)
        return BOOLEAN if part.kind == "EXISTS" else INTEGER

    def _pattern_expression(
        self, part: PatternPredicate | PatternComprehension, scope: Scope
    ) -> Scope:
        inside = self._bind([part.path], scope)
        if isinstance(part, PatternPredicate):
            new = min(
                (found for found in _pattern_variables(part.path) if found.name not in scope),
                key=lambda variable: variable.start,
                default=None,
            )
            if new is not None:
                msg = (
                    f"PatternExpressions are not allowed to introduce new variables: '{new.name}'."
                )
                raise RefusedError(msg, new.start)
        self._inline([part.path], inside)
        return inside

    def _bind(self, paths: Sequence[Path], scope: Scope) -> Scope:
        """Return the scope with the variables of some patterns."""
        inside = dict(scope)
        for path in paths:
            self._bind_elements(path, inside)
            if path.variable is not None:
                _check_new(path.variable, inside)
                inside[path.variable.name] = Bound(type=PATH)
        return inside

    def _bind_elements(self, path: Path, inside: dict[str, Bound]) -> None:
        for element in path.elements:
            if isinstance(element, Group):
                self._bind_group(element, inside)
                continue
            if isinstance(element, RelationshipPattern):
                _check_colon(element)
            if element.variable is not None:
                _declare(element.variable, _element_type(element), inside)

    def _bind_group(self, group: Group, inside: dict[str, Bound]) -> None:
        local = self._bind([group.path], inside)
        self._inline([group.path], local)
        self._infer.condition(group.where, local, decides=False)
        for name, bound in local.items():
            if name not in inside:
                inside[name] = Bound(type=list_of(bound.type)) if group.quantifier else bound

    def _inline(self, paths: Sequence[Path], scope: Scope) -> None:
        """Check the properties and WHEREs inside the patterns."""
        for element in (element for path in paths for element in path.elements):
            if isinstance(element, Group):
                continue
            if element.properties is not None:
                self._infer.type_of(element.properties, scope)
            # The variable of a repeated relationship is each single one inside its own WHERE.
            inner = scope
            if isinstance(element, RelationshipPattern) and element.variable is not None:
                inner = {**scope, element.variable.name: Bound(type=RELATIONSHIP)}
            self._infer.condition(element.where, inner, decides=False)


def _check_end(clauses: Sequence[Clause], within: str) -> None:
    for clause in clauses[:-1]:
        if isinstance(clause, Projection) and clause.kind == "RETURN":
            raise RefusedError("RETURN can only be used at the end of the query.", clause.start)
    last = clauses[-1]
    ends = isinstance(last, Finish) or (isinstance(last, Projection) and last.kind == "RETURN")
    alone = isinstance(last, CallProcedure) and not last.yields
    if not (ends or alone or within in {"EXISTS", "COUNT"}):
        names = {Match: "MATCH", Unwind: "UNWIND", Projection: "WITH"}
        raise RefusedError(_CONCLUSION.format(clause=names.get(type(last), "CALL")), last.start)


def _imports(clause: Clause, outer: Scope) -> bool:
    """Whether the first clause of a CALL { } takes variables from outside."""
    if not isinstance(clause, Projection) or clause.kind != "WITH" or clause.implied:
        return False
    used = (
        part
        for item in clause.items
        for part in item.expression.walk()
        if isinstance(part, Variable)
    )
    return clause.star is not None or any(variable.name in outer for variable in used)


def _bound(expression: Expression, kind: Type, scope: Scope) -> Bound:
    if isinstance(expression, Variable):
        return scope[expression.name]
    return Bound(type=kind, nullable=True)


def _check_new(variable: Variable, scope: Scope) -> None:
    if variable.name in scope:
        raise RefusedError(f"Variable `{variable.name}` already declared", variable.start)


def _check_shadowing(item: Item, within: str, outer: Scope | None) -> None:
    """Refuse an alias that a variable outside the subquery bears already."""
    if item.alias is None or outer is None or item.alias.name not in outer:
        return
    name = item.alias.name
    if within == "CALL":
        raise RefusedError(f"Variable `{name}` already declared in outer scope", item.alias.start)
    msg = f"The variable `{name}` is shadowing a variable with the same name from the outer scope and needs to be renamed"
    raise RefusedError(msg, item.alias.start)


def _check_limit(wording: Wording, part: Expression) -> None:
    if any(isinstance(inner, Variable) for inner in part.walk()):
        word = wording.text[: part.start].split()[-1].upper()
        msg = (
            f"It is not allowed to refer to variables in {word}, "
            f"so that the value for {word} can be statically calculated."
        )
        raise RefusedError(msg, part.start)
    if isinstance(part, Unary) or (isinstance(part, Constant) and part.type != "Integer"):
        shown = wording[part].strip("'\"")
        msg = f"Invalid input. '{shown}' is not a valid value. Must be a non-negative integer."
        raise RefusedError(msg, part.start)


def _check_colon(element: RelationshipPattern) -> None:
    bound = (
        element.variable is not None or element.properties is not None or element.length is not None
    )
    if element.colon is not None and bound:
        raise RefusedError(_COLONS.format(types=element.types.replace("|:", "|")), element.colon)


def _element_type(element: NodePattern | RelationshipPattern) -> Type:
    if isinstance(element, NodePattern):
        return NODE
    return RELATIONSHIP if element.is_single else list_of(RELATIONSHIP)


def _declare(variable: Variable, kind: Type, scope: dict[str, Bound]) -> None:
    known = scope.get(variable.name)
    if known is None:
        scope[variable.name] = Bound(type=kind)
        return
    fits = (
        known.type.is_open
        or known.type == kind
        or (known.type == list_of(ANY) and kind.name == "List")
    )
    if not fits:
        msg = f"Type mismatch: {variable.name} defined with conflicting type {known.type} (expected {kind})"
        raise RefusedError(msg, variable.start)


def _pattern_variables(path: Path) -> Iterable[Variable]:
    for element in path.elements:
        if isinstance(element, Group):
            yield from _pattern_variables(element.path)
        elif element.variable is not None:
            yield element.variable

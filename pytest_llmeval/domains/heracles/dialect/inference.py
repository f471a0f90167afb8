"""The types of expressions, and what Neo4j has against them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from pytest_llmeval.domains.heracles.dialect.functions import AGGREGATES, Signature, signature
from pytest_llmeval.domains.heracles.dialect.refusal import RefusedError, type_error
from pytest_llmeval.domains.heracles.dialect.scope import Bound, Scope
from pytest_llmeval.domains.heracles.dialect.syntax import (
    Binary,
    Call,
    Case,
    Comprehension,
    Constant,
    Expression,
    Index,
    ListOf,
    MapOf,
    MapProjection,
    Parameter,
    Part,
    PatternComprehension,
    PatternPredicate,
    Predicate,
    Property,
    Quantifier,
    Reduce,
    Slice,
    Subquery,
    Unary,
    Variable,
)
from pytest_llmeval.domains.heracles.dialect.types import (
    ANY,
    BOOLEAN,
    FLOAT,
    INTEGER,
    MAP,
    NUMBER,
    PATH,
    POINT,
    STRING,
    Type,
    common,
    java_name,
    list_of,
    named,
    need,
    need_boolean,
    property_of,
)

_TEMPORAL = ("Duration", "Date", "Time", "LocalTime", "LocalDateTime", "DateTime")
_PATTERN_USE = (
    "A pattern expression should only be used in order to test the existence of a pattern. "
    "It should therefore only be used in contexts that evaluate to a boolean, e.g. inside the function exists() "
    "or in a WHERE-clause. No other uses are allowed, instead they should be replaced by a pattern comprehension."
)
_PATTERN_SIZE = (
    "A pattern expression should only be used in order to test the existence of a pattern. "
    "It can no longer be used inside the function size(), an alternative is to replace size() with COUNT {}."
)
_PROPERTY_EXISTS = (
    "The property existence syntax `... exists(variable.property)` is no longer supported. "
    "Please use `variable.property IS NOT NULL` instead."
)
_POINT_KEYS = (
    " is not describing a valid point, a point is described either by using cartesian coordinates e.g. "
    "{x: 2.3, y: 4.5, crs: 'cartesian'} or using geographic coordinates e.g. {latitude: 12.78, longitude: 56.7, "
    "crs: 'WGS-84'}."
)

PatternCheck = Callable[[PatternPredicate | PatternComprehension, Scope], Scope]
SubqueryCheck = Callable[[Subquery, Scope], Type]


class Inference:
    """Finds the type of each expression it is given, and remembers it with the scope it stands in.

    `properties` are the types of the scene's properties by name. What needs patterns and clauses is
    left to `check_pattern`, which returns the scope inside the pattern, and `check_subquery`.
    """

    def __init__(
        self,
        properties: Mapping[str, str],
        *,
        check_pattern: PatternCheck,
        check_subquery: SubqueryCheck,
    ) -> None:
        """Begin with nothing known."""
        self._properties = properties
        self._check_pattern, self._check_subquery = check_pattern, check_subquery
        self.types: dict[Part, Type] = {}
        self.scopes: dict[Part, Scope] = {}

    def condition(self, part: Expression | None, scope: Scope, *, decides: bool = True) -> None:
        """Check an expression that must be true or false; `decides`: Neo4j looks at it whatever else is true."""
        if part is None:
            return
        if isinstance(part, PatternPredicate):
            self._pattern(part, scope)
        else:
            need_boolean(part, self.type_of(part, scope), decides=decides)

    def type_of(self, part: Expression, scope: Scope) -> Type:
        """Return the type of an expression in a scope; RefusedError when Neo4j would reject it."""
        self.scopes[part] = scope
        found = self.types[part] = self._infer(part, scope)
        return found

    def _infer(self, part: Expression, scope: Scope) -> Type:  # noqa: C901, PLR0911, PLR0912 - one case a kind
        match part:
            case Constant():
                return named(part.type)
            case Parameter():
                raise RefusedError(
                    f"Expected parameter(s): {part.name}", code="Statement.ParameterMissing"
                )
            case Variable():
                if part.name not in scope:
                    raise RefusedError(f"Variable `{part.name}` not defined", part.start)
                return scope[part.name].type
            case Property():
                return property_of(
                    part.subject, self.type_of(part.subject, scope), part.key, self._properties
                )
            case Index():
                return self._index(part, scope)
            case Slice():
                return self._slice(part, scope)
            case Unary():
                return self._unary(part, scope)
            case Binary():
                return self._binary(part, scope)
            case Predicate():
                self.type_of(part.subject, scope)
                return BOOLEAN
            case Call():
                return self._call(part, scope)
            case ListOf():
                return list_of(common([self.type_of(item, scope) for item in part.items]))
            case MapOf():
                for value in part.values:
                    self.type_of(value, scope)
                return MAP
            case MapProjection():
                for value in (part.variable, *part.values):
                    self.type_of(value, scope)
                return MAP
            case Case():
                return self._case(part, scope)
            case Comprehension():
                return self._comprehension(part, scope)
            case Quantifier():
                return self._quantifier(part, scope)
            case Reduce():
                return self._reduce(part, scope)
            case PatternPredicate(path=path):
                self._pattern(part, scope)
                if path.function:
                    return PATH if path.function == "shortestPath" else list_of(PATH)
                raise RefusedError(_PATTERN_USE, part.start)
            case PatternComprehension():
                inner = self._check_pattern(part, scope)
                self.condition(part.where, inner, decides=False)
                return list_of(self.type_of(part.result, inner))
            case Subquery():
                return self._check_subquery(part, scope)

    def _pattern(self, part: PatternPredicate, scope: Scope) -> None:
        self.scopes[part] = scope
        self._check_pattern(part, scope)

    def _index(self, part: Index, scope: Scope) -> Type:
        subject, index = self.type_of(part.subject, scope), self.type_of(part.index, scope)
        if subject.name in {"Map", "Node", "Relationship"}:
            what = "map key" if subject.name == "Map" else "node or relationship property key"
            if not index.fits("String"):
                raise RefusedError(
                    f"Type mismatch: {what} must be given as String, but was {index}",
                    part.index.start,
                )
            return ANY
        if subject.name in {"List", "Stored"} and not index.fits("Integer"):
            raise RefusedError(
                f"Type mismatch: list index must be given as Integer, but was {index}",
                part.index.start,
            )
        need(part.subject, subject, "List", "Map", "Node", "Relationship", words="List<T>")
        if subject.data not in {"", "List"}:
            raise type_error(f"`{subject.data}` is not a collection or a map.")
        return subject.inner or ANY

    def _slice(self, part: Slice, scope: Scope) -> Type:
        subject = self.type_of(part.subject, scope)
        need(part.subject, subject, "List")
        for bound in (part.lower, part.upper):
            if bound is not None:
                need(bound, self.type_of(bound, scope), "Integer")
        return subject if subject.name == "List" else ANY

    def _unary(self, part: Unary, scope: Scope) -> Type:
        if part.operator == "NOT":
            self.condition(part.operand, scope)
            return BOOLEAN
        kind = self.type_of(part.operand, scope)
        need(part.operand, kind, "Float", "Integer", "Duration", words="Float or Integer")
        return kind

    def _binary(self, part: Binary, scope: Scope) -> Type:
        if part.operator in {"AND", "OR", "XOR"}:
            self.condition(part.left, scope, decides=part.operator == "AND")
            self.condition(part.right, scope, decides=False)
            return BOOLEAN
        left, right = self.type_of(part.left, scope), self.type_of(part.right, scope)
        match part.operator:
            case "+" | "||":
                return self._sum(part, left, right)
            case "-" | "*" | "/" | "%" | "^":
                return self._arithmetic(part, left, right)
            case "IN":
                need(part.right, right, "List")
            case "=~":
                need(part.left, left, "String")
                need(part.right, right, "String")
        return BOOLEAN

    def _sum(self, part: Binary, left: Type, right: Type) -> Type:
        if left.name == "List" or right.name == "List":
            return left if left.name == "List" and left == right else list_of(ANY)
        if left.name in {"Node", "Relationship", "Path", "Map", "Boolean", "Point"}:
            need(
                part.right,
                right,
                *(("String", "List") if left.name == "Point" else ("List",)),
                words="List<T>",
            )
        if left.name in {"String", "Integer", "Float", "Number"}:
            wanted = ("Float", "Integer", "String", "List", "Point", *_TEMPORAL)
            need(part.right, right, *wanted, words="Float, Integer, String or List<T>")
        points, numbers = {"Point"}, {"Point", "Integer", "Float", "Number"}
        if {left.value, right.value} & points and {left.value, right.value} <= numbers:
            raise type_error(f"Cannot add `{java_name(left.value)}` and `{java_name(right.value)}`")
        if "String" in {left.name, right.name}:
            return STRING
        if left == right == INTEGER:
            return INTEGER
        return NUMBER if left.name in _NUMERIC and right.name in _NUMERIC else ANY

    def _arithmetic(self, part: Binary, left: Type, right: Type) -> Type:
        sign = part.operator
        wanted = {"-": ("Float", "Integer", *_TEMPORAL), "^": ("Float",), "%": ("Float", "Integer")}
        names = wanted.get(sign, ("Float", "Integer", "Duration"))
        need(part.left, left, *names)
        short = ("Float", "Integer") if sign == "-" and left.name in _NUMERIC else names[:3]
        need(part.right, right, *names, words=" or ".join(short) if len(short) < 3 else None)  # noqa: PLR2004 - two
        for value in (left.data, right.data):
            if value in {"String", "Point", "Boolean"}:
                raise type_error(_calculation(sign, java_name(left.value), java_name(right.value)))
        if sign == "^":
            return FLOAT
        if left == right == INTEGER:
            return INTEGER
        return NUMBER if left.name in _NUMERIC and right.name in _NUMERIC else ANY

    def _call(self, part: Call, scope: Scope) -> Type:
        if part.starred:
            return INTEGER
        if part.name.lower() == "coalesce":
            if not part.arguments:
                raise RefusedError(
                    f"Insufficient parameters for function '{part.name}'", part.start
                )
            return common([self.type_of(argument, scope) for argument in part.arguments])
        known = _known(part)
        match part.name.lower(), part.arguments:
            case "exists", _:
                return self._exists(part, scope)
            case "size", (PatternPredicate() as pattern,):
                raise RefusedError(_PATTERN_SIZE, pattern.start)
            case _:
                return self._result(part, known, scope)

    def _result(self, part: Call, known: Signature, scope: Scope) -> Type:
        kinds = [self.type_of(argument, scope) for argument in part.arguments]
        for argument, kind, wanted in zip(part.arguments, kinds, known.parameters, strict=False):
            need(argument, kind, *wanted)
            if (
                known.strict
                and kind.data
                and not replace(kind, name=kind.data, data="").fits(*wanted)
            ):
                raise type_error(_strict_message(part.name, kind.data, wanted))
        if part.name.lower() == "point":
            return _point(part.arguments[0])
        return _result(known.result, kinds)

    def _exists(self, part: Call, scope: Scope) -> Type:
        argument = part.arguments[0]
        if isinstance(argument, Property):
            raise RefusedError(_PROPERTY_EXISTS, part.start)
        if not isinstance(argument, PatternPredicate):
            raise RefusedError("Argument to exists(...) is not a pattern", argument.start)
        self._pattern(argument, scope)
        return BOOLEAN

    def _case(self, part: Case, scope: Scope) -> Type:
        if part.subject is not None:
            self.type_of(part.subject, scope)
        for condition in part.conditions:
            if part.subject is None:
                self.condition(condition, scope, decides=False)
            else:
                self.type_of(condition, scope)
        return common([self.type_of(result, scope) for result in part.results])

    def _comprehension(self, part: Comprehension, scope: Scope) -> Type:
        inner = self._inside(part.variable, part.source, scope)
        self.condition(part.where, inner, decides=False)
        return list_of(
            inner[part.variable.name].type
            if part.result is None
            else self.type_of(part.result, inner)
        )

    def _quantifier(self, part: Quantifier, scope: Scope) -> Type:
        inner = self._inside(part.variable, part.source, scope)
        if part.where is None:
            raise RefusedError(f"{part.kind}(...) requires a WHERE predicate", part.start)
        self.condition(part.where, inner, decides=False)
        return BOOLEAN

    def _reduce(self, part: Reduce, scope: Scope) -> Type:
        initial = self.type_of(part.initial, scope)
        inner = self._inside(part.variable, part.source, scope)
        # What the accumulator becomes is not followed through the steps.
        self.type_of(part.step, {**inner, part.accumulator.name: Bound(type=ANY)})
        return initial if initial in {STRING, FLOAT} else ANY

    def _inside(self, variable: Variable, source: Expression, scope: Scope) -> Scope:
        """Return the scope in which `variable` goes through a list."""
        kind = self.type_of(source, scope)
        need(source, kind, "List")
        return {**scope, variable.name: Bound(type=kind.inner or ANY)}


_NUMERIC = ("Integer", "Float", "Number")


def _known(part: Call) -> Signature:
    """Return the signature of the called function; an error when there is none, or the call does not fit it."""
    if part.name.lower() in {"all", "any", "none", "single"}:
        raise RefusedError(f"{part.name}(...) requires a WHERE predicate", part.start)
    known = signature(part.name)
    if known is None:
        raise RefusedError(f"Unknown function '{part.name}'", part.start)
    if part.distinct and part.name.lower() not in AGGREGATES:
        raise RefusedError(f"Invalid use of DISTINCT with function '{part.name}'", part.start)
    if len(part.arguments) < known.required:
        raise RefusedError(f"Insufficient parameters for function '{part.name}'", part.start)
    if len(part.arguments) > len(known.parameters):
        raise RefusedError(f"Too many parameters for function '{part.name}'", part.start)
    return known


def _calculation(sign: str, left: str, right: str) -> str:
    match sign:
        case "-":
            return f"Cannot subtract `{right}` from `{left}`"
        case "/":
            return f"Cannot divide `{left}` by `{right}`"
        case "*":
            return f"Cannot multiply `{left}` and `{right}`"
        case _:
            return f"Cannot calculate with `{left}` and `{right}`"


def _strict_message(name: str, found: str, wanted: tuple[str, ...]) -> str:
    if name.lower() in AGGREGATES:
        return f"{name.upper()}(...) can only handle numerical values, duration, or null."
    if wanted[0] == "Float":
        return f"{name}() requires numbers"
    if wanted == ("String",):
        hint = "consider converting it to a string with toString()."
        return f"Expected a string value for `{name}`, but got: {found}; {hint}"
    return f"Invalid input for function '{name}()': Expected a {' or '.join(wanted)}, got: {found}"


def _result(name: str, kinds: list[Type]) -> Type:
    first = kinds[0] if kinds else ANY
    match name:
        case "same":
            return first
        case "item":
            return first.inner or ANY
        case "List<same>":
            return list_of(first)
        case _:
            return named(name)


def _point(argument: Expression) -> Type:
    """Return the type of ``point(argument)``; that of three coordinates is known like the scene's own points."""
    if not isinstance(argument, MapOf):
        return POINT
    keys = set(argument.keys)
    if not (keys >= {"x", "y"} or keys >= {"longitude", "latitude"}):
        shown = ", ".join(f"'{key}'" for key in argument.keys)
        raise RefusedError(f"A map with keys {shown}{_POINT_KEYS}", argument.start)
    return replace(POINT, data=POINT.name) if keys == {"x", "y", "z"} else POINT

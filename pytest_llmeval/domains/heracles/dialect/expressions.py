"""Expressions of Cypher 5, read by precedence."""

from __future__ import annotations

from typing import Final, Literal, cast

from pytest_llmeval.domains.heracles.dialect import parser, patterns
from pytest_llmeval.domains.heracles.dialect.reader import Reader
from pytest_llmeval.domains.heracles.dialect.refusal import RefusedError
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

# How tightly the operators bind. A word operator is what comes first of its words.
_OR, _XOR, _AND, _NOT, _COMPARISON, _TEST, _SUM, _PRODUCT, _POWER, _SIGN = range(1, 11)
_WORDS: Final = {"OR": _OR, "XOR": _XOR, "AND": _AND, "IS": _TEST, "IN": _TEST, "CONTAINS": _TEST}
_SIGNS: Final = (
    ("<>", _COMPARISON),
    ("<=", _COMPARISON),
    (">=", _COMPARISON),
    ("=~", _TEST),
    ("::", _TEST),
    ("||", _SUM),
    ("=", _COMPARISON),
    ("<", _COMPARISON),
    (">", _COMPARISON),
    ("+", _SUM),
    ("-", _SUM),
    ("*", _PRODUCT),
    ("/", _PRODUCT),
    ("%", _PRODUCT),
    ("^", _POWER),
)
_CONSTANTS: Final = {
    "TRUE": "Boolean",
    "FALSE": "Boolean",
    "NULL": "Null",
    "INF": "Float",
    "INFINITY": "Float",
    "NAN": "Float",
}
_QUANTIFIERS: Final = ("ALL", "ANY", "NONE", "SINGLE")
_SUBQUERIES: Final = ("EXISTS", "COUNT", "COLLECT")
_NOT_EQUAL: Final = "Unknown operation '!=' (you probably meant to use '<>', which is the operator for inequality testing)"


def expression(reader: Reader) -> Expression:
    """Read an expression."""
    return _binding(reader, _OR)


def _binding(reader: Reader, least: int) -> Expression:
    """Read operands joined by operators that bind as tightly as `least` or more."""
    left = _operand(reader)
    while True:
        operator, tightness = _operator(reader)
        if not operator or tightness < least:
            return left
        left = _joined(reader, left, operator, tightness)


def _joined(reader: Reader, left: Expression, operator: str, tightness: int) -> Expression:
    if operator in {"IS", "::"}:
        return _tested(reader, left)
    for word in operator.split():
        reader.take_word(word) or reader.take_operator(word)
    right = _binding(reader, tightness + 1)
    return Binary(start=left.start, end=reader.end, operator=operator, left=left, right=right)


def _operator(reader: Reader) -> tuple[str, int]:
    """Return the operator that comes next and how tightly it binds; an empty one when none does."""
    token = reader.peek()
    if token.word in {"STARTS", "ENDS"} and reader.peek(1).word == "WITH":
        return f"{token.word} WITH", _TEST
    if token.word in _WORDS:
        return token.word, _WORDS[token.word]
    if token.kind != "sign":
        return "", 0
    if reader.at_operator("!="):
        raise RefusedError(_NOT_EQUAL, token.start)
    return next(
        ((sign, tightness) for sign, tightness in _SIGNS if reader.at_operator(sign)), ("", 0)
    )


def _operand(reader: Reader) -> Expression:
    start = reader.start
    if reader.at_word("NOT") and not reader.peek(1).is_sign(")", ",", ".", "=", "]", "}"):
        reader.next()
        operand = _binding(reader, _NOT)
        return Unary(start=start, end=reader.end, operator="NOT", operand=operand)
    if reader.at_sign("-", "+"):
        operator = reader.next().text
        operand = _binding(reader, _SIGN)
        return Unary(start=start, end=reader.end, operator=operator, operand=operand)
    found = _atom(reader)
    while True:
        if reader.at_sign(".") and reader.peek(1).is_name:
            reader.next()
            found = Property(
                start=start, end=reader.peek().end, subject=found, key=reader.next().text
            )
        elif reader.at_sign("["):
            found = _indexed(reader, found)
        elif reader.at_sign(":") and not reader.at_operator("::"):
            patterns.labels(reader)
            found = Predicate(start=start, end=reader.end, subject=found)
        else:
            return found


def _indexed(reader: Reader, subject: Expression) -> Expression:
    reader.need_sign("[")
    lower = None if reader.at_sign("..") else expression(reader)
    if reader.take_sign("..") or lower is None:
        upper = None if reader.at_sign("]") else expression(reader)
        reader.need_sign("]")
        return Slice(start=subject.start, end=reader.end, subject=subject, lower=lower, upper=upper)
    reader.need_sign("]")
    return Index(start=subject.start, end=reader.end, subject=subject, index=lower)


def _tested(reader: Reader, subject: Expression) -> Predicate:
    """Read what follows a value that is tested: ``IS [NOT] NULL``, ``IS [NOT] TYPED ..``, ``:: ..``, ``IS Label``."""
    negated = not reader.take_operator("::") and reader.take_word("IS") and reader.take_word("NOT")
    is_null = False
    if reader.take_word("NULL"):
        is_null = True
    elif reader.at_word("NORMALIZED") or reader.peek(1).word == "NORMALIZED":
        while not reader.take_word("NORMALIZED"):
            reader.next()
    elif reader.take_word("TYPED") or reader.take_operator("::") or reader.peek(-1).is_sign(":"):
        _type_name(reader)
    else:
        patterns.label_names(reader)
    return Predicate(
        start=subject.start, end=reader.end, subject=subject, is_not_null=negated and is_null
    )


def _type_name(reader: Reader) -> None:
    """Read a type such as ``INTEGER NOT NULL`` or ``LIST<STRING> | POINT``."""
    words = (
        "NOT",
        "NULL",
        "WITHOUT",
        "WITH",
        "TIME",
        "TIMEZONE",
        "ZONE",
        "VALUE",
        "GRAPH",
        "NODE",
        "VERTEX",
        "EDGE",
    )
    reader.need_name()
    while True:
        if (
            (reader.peek().word in words and not reader.at_word("WITH", "TIMEZONE"))
            or reader.at_word("DATETIME")
            or reader.at_word("TIMEZONE")
        ):
            reader.next()
        elif reader.take_sign("<"):
            _type_name(reader)
            reader.need_sign(">")
        elif reader.take_sign("|"):
            reader.need_name()
        else:
            return


def _atom(reader: Reader) -> Expression:
    token = reader.peek()
    start = token.start
    match token.kind:
        case "number":
            return _number(reader)
        case "string":
            reader.next()
            return Constant(start=start, end=token.end, type="String")
        case "word" | "quoted":
            return _named(reader)
        case _:
            return _bracketed(reader)


def _number(reader: Reader) -> Constant:
    """Read a number; the tokens break ``1_000`` in two."""
    token = reader.next()
    while reader.peek().word.startswith("_") and reader.start == reader.end:
        reader.next()
    is_float = not token.text[:2].lower().startswith(("0x", "0o")) and any(
        sign in token.text for sign in ".eE"
    )
    return Constant(start=token.start, end=reader.end, type="Float" if is_float else "Integer")


def _bracketed(reader: Reader) -> Expression:
    start = reader.start
    if reader.at_sign("("):
        if patterns.begins_path(reader):
            path = patterns.path(reader)
            return PatternPredicate(start=start, end=path.end, path=path)
        reader.next()
        inner = expression(reader)
        reader.need_sign(")")
        return inner
    if reader.at_sign("["):
        return _listed(reader)
    if reader.at_sign("{"):
        return map_of(reader)
    if reader.take_sign("$"):
        name = reader.next()
        return Parameter(start=start, end=name.end, name=name.text)
    if reader.at_sign(".") and reader.peek(1).kind == "number":
        reader.next()
        return Constant(start=start, end=reader.next().end, type="Float")
    raise reader.unexpected("an expression")


def _listed(reader: Reader) -> Expression:
    """Read what stands in square brackets: a list, or a comprehension of a list or of a pattern."""
    start = reader.start
    reader.need_sign("[")
    named = (
        reader.peek().is_name
        and reader.peek(1).is_sign("=")
        and patterns.begins_path(reader, ahead=2)
    )
    if named or (reader.at_sign("(") and patterns.begins_path(reader)):
        path = patterns.path(reader)
        where = expression(reader) if reader.take_word("WHERE") else None
        reader.need_sign("|")
        result = expression(reader)
        reader.need_sign("]")
        return PatternComprehension(
            start=start, end=reader.end, path=path, where=where, result=result
        )
    if reader.peek().is_name and reader.peek(1).word == "IN":
        variable, source, where = _filter(reader)
        selected = expression(reader) if reader.take_sign("|") else None
        reader.need_sign("]")
        return Comprehension(
            start=start,
            end=reader.end,
            variable=variable,
            source=source,
            where=where,
            result=selected,
        )
    items = expressions(reader, "]")
    return ListOf(start=start, end=reader.end, items=items)


def _filter(reader: Reader) -> tuple[Variable, Expression, Expression | None]:
    """Read ``x IN list WHERE ..``."""
    variable = reader.need_variable()
    reader.need_word("IN")
    source = expression(reader)
    return variable, source, expression(reader) if reader.take_word("WHERE") else None


def expressions(reader: Reader, closing: str) -> tuple[Expression, ...]:
    """Read expressions with commas between them, up to and with the sign `closing`."""
    found: list[Expression] = []
    while not reader.take_sign(closing):
        if found:
            reader.need_sign(",")
        found.append(expression(reader))
    return tuple(found)


def map_of(reader: Reader) -> MapOf:
    """Read ``{key: value, ..}``."""
    start = reader.start
    reader.need_sign("{")
    keys: list[str] = []
    values: list[Expression] = []
    while not reader.take_sign("}"):
        if keys:
            reader.need_sign(",")
        keys.append(reader.need_name().text)
        reader.need_sign(":")
        values.append(expression(reader))
    return MapOf(start=start, end=reader.end, keys=tuple(keys), values=tuple(values))


def _named(reader: Reader) -> Expression:  # noqa: PLR0911 - one return a kind
    """Read what begins with a name."""
    token, following = reader.peek(), reader.peek(1)
    if token.word == "CASE" and not following.is_sign(")", "]", "}", ",", ".", "="):
        return _case(reader)
    if token.word in _SUBQUERIES and following.is_sign("{"):
        return _subquery(reader)
    if following.is_sign("("):
        special = _special_call(reader)
        if special is not None:
            return special
    if token.word in _CONSTANTS and not following.is_sign("(", "."):
        reader.next()
        return Constant(start=token.start, end=token.end, type=_CONSTANTS[token.word])
    ahead = 0
    while reader.peek(ahead + 1).is_sign(".") and reader.peek(ahead + 2).is_name:
        ahead += 2
    if reader.peek(ahead + 1).is_sign("("):
        return _call(reader, ahead)
    variable = reader.need_variable()
    if reader.at_sign("{"):
        return _map_projection(reader, variable)
    return variable


def _special_call(reader: Reader) -> Expression | None:
    """Read what looks like a call and is none; None when it is one."""
    token, start = reader.peek(), reader.start
    if token.word in {"SHORTESTPATH", "ALLSHORTESTPATHS"}:
        path = patterns.path(reader)
        return PatternPredicate(start=start, end=path.end, path=path)
    if token.word in _QUANTIFIERS and reader.peek(2).is_name and reader.peek(3).word == "IN":
        reader.next()
        reader.next()
        variable, source, where = _filter(reader)
        reader.need_sign(")")
        return Quantifier(
            start=start,
            end=reader.end,
            kind=token.text,
            variable=variable,
            source=source,
            where=where,
        )
    if token.word == "REDUCE" and reader.peek(2).is_name and reader.peek(3).is_sign("="):
        return _reduce(reader)
    if token.word == "TRIM" and reader.peek(2).word in {"BOTH", "LEADING", "TRAILING"}:
        return _trim(reader)
    return None


def _reduce(reader: Reader) -> Reduce:
    start = reader.next().start
    reader.need_sign("(")
    accumulator = reader.need_variable()
    reader.need_sign("=")
    initial = expression(reader)
    reader.need_sign(",")
    variable = reader.need_variable()
    reader.need_word("IN")
    source = expression(reader)
    reader.need_sign("|")
    step = expression(reader)
    reader.need_sign(")")
    return Reduce(
        start=start,
        end=reader.end,
        accumulator=accumulator,
        initial=initial,
        variable=variable,
        source=source,
        step=step,
    )


def _trim(reader: Reader) -> Call:
    """Read ``trim(BOTH 'x' FROM text)``."""
    start = reader.next().start
    reader.need_sign("(")
    reader.next()
    parts = () if reader.at_word("FROM") else (expression(reader),)
    reader.need_word("FROM")
    text = expression(reader)
    reader.need_sign(")")
    return Call(start=start, end=reader.end, name="btrim", arguments=(text, *parts))


def _call(reader: Reader, ahead: int) -> Call:
    """Read a function's call, whose name ends `ahead` tokens further on."""
    start = reader.start
    name = "".join(reader.next().text for _ in range(ahead + 1))
    reader.need_sign("(")
    if name.upper() == "COUNT" and reader.at_sign("*"):
        reader.next()
        reader.need_sign(")")
        return Call(start=start, end=reader.end, name=name, arguments=(), starred=True)
    distinct = reader.at_word("DISTINCT") and not reader.peek(1).is_sign(")", ",", ".")
    if distinct or (reader.at_word("ALL") and reader.peek(1).is_name):
        reader.next()
    arguments = expressions(reader, ")")
    return Call(start=start, end=reader.end, name=name, arguments=arguments, distinct=distinct)


def _case(reader: Reader) -> Case:
    start = reader.next().start
    subject = None if reader.at_word("WHEN") else expression(reader)
    condition = expression if subject is None else _case_value
    conditions, results = [], []
    while reader.take_word("WHEN"):
        conditions.append(condition(reader))
        while subject is not None and reader.take_sign(","):
            conditions.append(condition(reader))
        reader.need_word("THEN")
        results.append(expression(reader))
    if not conditions:
        raise reader.unexpected("'WHEN'")
    if reader.take_word("ELSE"):
        results.append(expression(reader))
    reader.need_word("END")
    return Case(
        start=start,
        end=reader.end,
        subject=subject,
        conditions=tuple(conditions),
        results=tuple(results),
    )


def _case_value(reader: Reader) -> Expression:
    """Read a value to compare with the subject of a CASE, or a comparison without its left side (``WHEN < 3``).

    There a value that can be anything stands for the subject, which must not occur twice: CASEs as
    subjects of CASEs would double at each level.
    """
    operator, tightness = _operator(reader)
    if tightness not in {_COMPARISON, _TEST}:
        return expression(reader)
    left = Constant(start=reader.start, end=reader.start, type="Any")
    return _joined(reader, left, operator, tightness)


def _subquery(reader: Reader) -> Subquery:
    token = reader.next()
    reader.need_sign("{")
    query = parser.inner_query(reader)
    reader.need_sign("}")
    kind = cast("Literal['EXISTS', 'COUNT', 'COLLECT']", token.word)
    return Subquery(start=token.start, end=reader.end, kind=kind, query=query)


def _map_projection(reader: Reader, variable: Variable) -> MapProjection:
    reader.need_sign("{")
    values: list[Expression] = []
    while not reader.take_sign("}"):
        if reader.take_sign("."):
            if not reader.take_sign("*"):
                reader.need_name()
        elif reader.peek(1).is_sign(":"):
            reader.need_name()
            reader.next()
            values.append(expression(reader))
        else:
            values.append(reader.need_variable())
        if not reader.at_sign("}"):
            reader.need_sign(",")
    return MapProjection(
        start=variable.start, end=reader.end, variable=variable, values=tuple(values)
    )

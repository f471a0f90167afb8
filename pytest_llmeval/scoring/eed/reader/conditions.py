"""Conditions on values: relations, and membership in intervals and sets, as sympy functions.

A condition is built of the undefined functions ``Less(a, b)``, ``LessEqual(a, b)``, ``Same(a, b)``,
``All(...)``, ``Any(...)``, ``Not(c)``, ``Otherwise()`` and ``Words(...)``, which `evaluation` gives
a truth value at a point.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import sympy

from pytest_llmeval.scoring.eed.reader.commands import INEQUALITIES
from pytest_llmeval.scoring.eed.reader.cursor import written
from pytest_llmeval.scoring.eed.reader.guards import FormulaError
from pytest_llmeval.scoring.eed.reader.reader import Reader
from pytest_llmeval.scoring.eed.reader.splitting import (
    OTHERWISE,
    is_condition,
    is_word,
    relates,
    split,
    word_set,
    words,
)
from pytest_llmeval.scoring.eed.reader.symbols import opaque
from pytest_llmeval.scoring.eed.reader.token import Token, Tokens

RELATIONS = frozenset({"Less", "LessEqual", "Same"})
"""Names of the relations between two values."""

VARIABLE = sympy.Symbol("set member", real=True)
"""Stands for the members of a set that names no variable."""

_LEADING = frozenset("if for when where with and is in the region case at".split())  # noqa: SIM905
_NUMBERS: dict[str, Callable[[sympy.Expr], sympy.Expr]] = {
    "R": lambda _member: opaque("All"),
    "Z": lambda member: opaque("Same", member, sympy.floor(member)),
}
_NUMBERS["N"] = lambda member: opaque("All", _NUMBERS["Z"](member), opaque("LessEqual", 1, member))


def read_condition(reader: Reader, tokens: Tokens) -> sympy.Expr:
    """Return the condition that tokens state; unknown words are a condition of their own."""
    for name, connects in (
        ("Any", lambda token: token.is_command("vee") or is_word(token, "or")),
        (
            "All",
            lambda token: token.is_mark(",") or token.is_command("wedge") or is_word(token, "and"),
        ),
    ):
        parts, found = split(tokens, connects)
        if found and all(parts):
            return opaque(name, *(read_condition(reader, part) for part in parts))
    if word_set(tokens) & OTHERWISE:
        return opaque("Otherwise")
    tokens = _without_words(tokens)
    parts, signs = split(tokens, relates)
    if signs:
        return _chain(reader, parts, signs)
    wording = sorted(set(words(tokens)) - _LEADING)
    if not wording:
        msg = "an empty condition"
        raise FormulaError(msg)
    return opaque("Words", *(sympy.Symbol(word) for word in wording))


def _without_words(tokens: Tokens) -> Tokens:
    """Return tokens without words such as "if" at the start and the end."""
    while tokens and (_leads(tokens[0]) or tokens[0].is_mark(",", ":")):
        tokens = tokens[1:]
    related = any(relates(token) for token in tokens)
    while tokens and (
        _leads(tokens[-1])
        or tokens[-1].is_mark(",", ".", ";")
        or (related and tokens[-1].kind == "text")
    ):
        tokens = tokens[:-1]
    return tokens


def _leads(token: Token) -> bool:
    if token.is_command("quad", "qquad"):
        return True
    return token.kind == "text" and set(token.text.lower().replace(",", " ").split()) <= _LEADING


def _chain(reader: Reader, parts: Sequence[Tokens], signs: Sequence[Token]) -> sympy.Expr:
    """Return the condition of a chain such as ``a < x <= b``."""
    links = [
        _link(reader, left, sign, right)
        for left, sign, right in zip(parts, signs, parts[1:], strict=False)
    ]
    return links[0] if len(links) == 1 else opaque("All", *links)


def _link(reader: Reader, left: Tokens, sign: Token, right: Tokens) -> sympy.Expr:
    if sign.is_command("in", "notin"):
        inside = membership(reader, right, reader.parse(left))
        return inside if sign.text == "in" else opaque("Not", inside)
    one, other = reader.parse(left), reader.parse(right)
    if sign.text not in INEQUALITIES:
        return opaque("Same", one, other)
    name, swap = INEQUALITIES[sign.text]
    if swap:
        one, other = other, one
    if name == "!=":
        return opaque("Not", opaque("Same", one, other))
    return opaque(_HEADS.get(name, name), one, other)


_HEADS = {"<": "Less", "<=": "LessEqual"}


def membership(reader: Reader, tokens: Tokens, member: sympy.Expr) -> sympy.Expr:
    """Return the condition that `member` is in the set that tokens write.

    Raises:
        FormulaError: they write no set of numbers.
    """
    parts, signs = split(tokens, lambda token: token.is_command("cup", "cap", "setminus"))
    condition = _set(reader, parts[0], member)
    for sign, part in zip(signs, parts[1:], strict=True):
        other = _set(reader, part, member)
        if sign.text == "cup":
            condition = opaque("Any", condition, other)
        else:
            condition = opaque(
                "All", condition, other if sign.text == "cap" else opaque("Not", other)
            )
    return condition


def is_set(tokens: Tokens) -> bool:
    """Return whether tokens write an interval, a union, a set by its condition, or all numbers."""
    if split(tokens, lambda token: token.is_command("cup", "cap", "setminus"))[1]:
        return True
    if _numbers(tokens):
        return True
    if len(tokens) > 2 and tokens[0].is_mark("\\{") and tokens[-1].is_mark("\\}"):  # noqa: PLR2004
        return len(_builder(tokens[1:-1])) > 1
    return _is_half_open(tokens)


def image_of(reader: Reader, tokens: Tokens) -> sympy.Expr | None:
    r"""Return the set of the values of a formula, as ``\{2n: n \in Z\}``; None for another set."""
    if not (tokens and tokens[0].is_mark("\\{") and tokens[-1].is_mark("\\}")):
        return None
    parts = _builder(tokens[1:-1])
    if len(parts) == 1 or any(token.is_command("in") for token in parts[0]):
        return None
    value, condition = reader.parse(parts[0]), read_condition(reader, parts[1])
    if value.is_Symbol:
        return None
    names = dict.fromkeys(condition.free_symbols & value.free_symbols, VARIABLE)
    return opaque("Image", value.subs(names), sympy.Symbol(str(condition.subs(names))))


def _is_half_open(tokens: Tokens) -> bool:
    """Return whether tokens are an interval by their brackets or an infinite end."""
    if len(tokens) < 5 or not (tokens[0].is_mark("(", "[") and tokens[-1].is_mark(")", "]")):  # noqa: PLR2004
        return False
    parts, _ = split(tokens[1:-1], lambda token: token.is_mark(",", ";"))
    if len(parts) != 2:  # noqa: PLR2004 - two ends
        return False
    mixed = (tokens[0].text == "[") != (tokens[-1].text == "]")
    return mixed or any(token.is_command("infty") for token in tokens)


def _numbers(tokens: Tokens) -> str:
    """Return R, Z or N for the set of all such numbers, else ""."""
    if tokens and tokens[0].is_command("mathbb", "mathbf", "mathrm", "bf") and len(tokens) > 1:
        name = written(tokens[1:])
        return name if name in _NUMBERS else ""
    return ""


def _builder(inside: Tokens) -> list[Tokens]:
    """Split ``x | x > 0`` at its bar or colon."""
    for place, token in enumerate(inside):
        if token.is_mark("|", ":") and is_condition(inside[place + 1 :]):
            return [inside[:place], inside[place + 1 :]]
    return [inside]


def _set(reader: Reader, tokens: Tokens, member: sympy.Expr) -> sympy.Expr:
    name = _numbers(tokens)
    if name:
        return _NUMBERS[name](member)
    if len(tokens) > 1 and tokens[0].is_mark("\\{") and tokens[-1].is_mark("\\}"):
        return _braced(reader, tokens[1:-1], member)
    if len(tokens) > 1 and tokens[0].is_mark("(", "[") and tokens[-1].is_mark(")", "]"):
        parts, commas = split(tokens[1:-1], lambda token: token.is_mark(",", ";"))
        if len(commas) == 1:
            low, high = (reader.parse(part) for part in parts)
            return interval(
                low,
                high,
                member,
                closed_left=tokens[0].text == "[",
                closed_right=tokens[-1].text == "]",
            )
        if not commas:
            return membership(reader, tokens[1:-1], member)
    if tokens and all(token.is_command("emptyset") for token in tokens):
        return opaque("Any")
    msg = f"no set: {written(tokens)}"
    raise FormulaError(msg)


def _braced(reader: Reader, inside: Tokens, member: sympy.Expr) -> sympy.Expr:
    parts = _builder(inside)
    if len(parts) == 1:
        members, _ = split(inside, lambda token: token.is_mark(",", ";"))
        return opaque("Any", *(opaque("Same", member, reader.parse(part)) for part in members))
    names, signs = split(parts[0], lambda token: token.is_command("in"))
    name = reader.parse(names[0])
    if not name.is_Symbol:
        msg = "a set of the values of a formula"
        raise FormulaError(msg)
    condition = read_condition(reader, parts[1]).subs(name, member)
    if not signs:
        return condition
    return opaque("All", membership(reader, names[1], member), condition)


def interval(
    low: sympy.Expr,
    high: sympy.Expr,
    member: sympy.Expr,
    *,
    closed_left: bool,
    closed_right: bool,
) -> sympy.Expr:
    """Return the condition that `member` lies between two ends; infinite ends are left out."""
    bounds = []
    if low != -sympy.oo:
        bounds.append(opaque("LessEqual" if closed_left else "Less", low, member))
    if high != sympy.oo:
        bounds.append(opaque("LessEqual" if closed_right else "Less", member, high))
    return bounds[0] if len(bounds) == 1 else opaque("All", *bounds)

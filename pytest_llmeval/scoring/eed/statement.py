"""The statement of an answer or target, as the corrected mode reads it.

This finds the part of the text that is the formula, and reads its expression.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import sympy

from pytest_llmeval.scoring.eed.reader import latex
from pytest_llmeval.scoring.eed.reader.commands import APPROXIMATELY, EQUALS, INEQUALITIES
from pytest_llmeval.scoring.eed.reader.guards import FormulaError
from pytest_llmeval.scoring.eed.reader.symbols import opaque
from pytest_llmeval.scoring.eed.reader.tokens import Token, tokens_of

_ROUNDING = 0.01  # largest relative difference of an approximation from its number
_CONNECTIVES = frozenset({"and", "or"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    r"""A formula, with the approximation given for it, as in ``x = 1/3 \approx 0.33``."""

    formula: sympy.Expr
    approximation: sympy.Expr | None = None

    @property
    def formulas(self) -> tuple[sympy.Expr, ...]:
        """The formula, then the approximation."""
        return (self.formula,) if self.approximation is None else (self.formula, self.approximation)


def read(text: str) -> Statement:
    """Return the statement of a text.

    Raises:
        FormulaError: there is no readable formula in it; the message is the reason.
    """
    tokens = _unwrapped(formula_tokens(text))
    parts = [part for part in _split(tokens, _separates) if part] or [tokens]
    if len(parts) == 1:
        return _statement(parts[0])
    return Statement(formula=opaque("tuple", *(_statement(part).formula for part in parts)))


def formula_tokens(text: str) -> Sequence[Token]:
    r"""Return the tokens of the formula: of the first box, up to a ``\quad`` or remark."""
    return _before_remarks(tokens_of(text))


def same_text(one: str, other: str) -> bool:
    """Return whether two texts have the same tokens, apart from layout and remarks."""
    try:
        return formula_tokens(one) == formula_tokens(other)
    except FormulaError:
        return False


def _before_remarks(tokens: Sequence[Token]) -> Sequence[Token]:
    r"""Return the tokens before the first ``\quad`` or remark, unless there are none."""
    environments = 0
    for position, token in enumerate(tokens):
        environments += token.is_command("begin") - token.is_command("end")
        if not position or environments:
            continue
        if token.is_command("quad", "qquad"):
            return _trimmed(tokens[:position])
        if token.kind == "text" and _is_remark(tokens, position):
            return _trimmed(tokens[:position])
    return _trimmed(tokens)


def _is_remark(tokens: Sequence[Token], position: int) -> bool:
    """Return whether a text is a remark: several words, or a last one behind a space."""
    words, following = tokens[position].text.split(), tokens[position + 1 :]
    if _is_exponent(following):  # of a unit
        following = ()
    continued = any(
        token.is_mark(*"+-*/^_=") or token.is_command("cdot", "times") for token in following[:1]
    )
    if (
        not words
        or words[0] in _CONNECTIVES
        or continued
        or tokens[position - 1].is_mark("{", "_", "^")
    ):
        return False
    return len(words) > 1 or (not following and tokens[position].text[0].isspace())


def _is_exponent(tokens: Sequence[Token]) -> bool:
    return len(tokens) > 1 and tokens[0].is_mark("^") and _closes_at_end(tokens[1:])


def _trimmed(tokens: Sequence[Token]) -> Sequence[Token]:
    while tokens and (
        tokens[-1].is_mark(".", ",", ";", ":") or tokens[-1].is_command("newline", "quad", "qquad")
    ):
        tokens = tokens[:-1]
    return tokens


def _unwrapped(tokens: Sequence[Token]) -> Sequence[Token]:
    """Return the tokens without a bracket around all of them, if there is a relation inside."""
    pairs = {"(": ")", "{": "}", "[": "]"}
    while (
        len(tokens) > 1
        and tokens[0].kind == "mark"
        and tokens[0].text in pairs
        and _closes_at_end(tokens)
    ):
        inside = tokens[1:-1]
        if not any(
            test(token) for token in inside for test in (_equates, _approximates, _compares)
        ):
            break
        tokens = inside
    return tokens


def _closes_at_end(tokens: Sequence[Token]) -> bool:
    depth = 0
    for position, token in enumerate(tokens):
        depth += token.is_mark("(", "{", "[") - token.is_mark(")", "}", "]")
        if depth == 0:
            return position == len(tokens) - 1
    return False


def _split(tokens: Sequence[Token], at: Callable[[Token], bool]) -> list[Sequence[Token]]:
    """Split at the tokens outside all brackets and environments for which `at` holds."""
    parts: list[Sequence[Token]] = []
    depth = start = 0
    for position, token in enumerate(tokens):
        depth += token.is_mark("(", "{", "[") - token.is_mark(")", "}", "]")
        depth += token.is_command("begin") - token.is_command("end")
        if depth == 0 and at(token):
            parts.append(tokens[start:position])
            start = position + 1
    return [*parts, tokens[start:]]


def _separates(token: Token) -> bool:
    return (
        token.is_mark(",", ";")
        or token.is_command("newline")
        or (token.kind == "text" and token.text.strip() in _CONNECTIVES)
    )


def _equates(token: Token) -> bool:
    return token.text in EQUALS and token.kind in ("mark", "command")


def _approximates(token: Token) -> bool:
    return token.kind == "command" and token.text in APPROXIMATELY


def _compares(token: Token) -> bool:
    return token.kind in ("mark", "command") and token.text in INEQUALITIES


def _statement(tokens: Sequence[Token]) -> Statement:
    r"""Read a formula, ``name = formula`` or ``name = number \approx value``.

    Of several formulas the last one counts.
    """
    equal_parts = _split(tokens, _equates)
    parts = _split(equal_parts[-1], _approximates)
    if len(parts) > 1 and len(equal_parts) == 1 and _is_name(parts[0]):
        parts = parts[1:]
    first, last = _comparison(parts[0]), _comparison(parts[-1])
    if last.free_symbols or len(parts) == 1:
        return Statement(formula=last)
    return Statement(formula=first, approximation=last if _near(first, last) else None)


def _near(number: sympy.Expr, value: sympy.Expr) -> bool:
    """Return whether a value is an approximation of a number."""
    if number.free_symbols or not (number.is_real and value.is_real):
        return False
    return bool(abs(number.evalf() - value.evalf()) <= _ROUNDING * abs(number.evalf()))


def _is_name(tokens: Sequence[Token]) -> bool:
    try:
        return bool(latex.parse(tokens).is_Symbol)
    except FormulaError:
        return True


def _comparison(tokens: Sequence[Token]) -> sympy.Expr:
    """Read an expression; an inequality is an undefined function of its sides, smaller first."""
    first, *more = _split(tokens, _compares)
    if not more:
        expression = latex.parse(tokens)
        if expression.has(sympy.zoo, sympy.nan):
            msg = "division by zero"
            raise FormulaError(msg)
        return expression
    place = len(first)
    name, swap = INEQUALITIES[tokens[place].text]
    left, right = latex.parse(first), _comparison(tokens[place + 1 :])
    return opaque(name, *((right, left) if swap else (left, right)))

"""What stands before an equals sign: a mere name, or a side of a law."""

from __future__ import annotations

import re

import sympy

from pytest_llmeval.scoring.eed.reader.answer import Expression
from pytest_llmeval.scoring.eed.reader.brackets_around import closes_at_end
from pytest_llmeval.scoring.eed.reader.commands import FUNCTIONS, GREEK
from pytest_llmeval.scoring.eed.reader.token import Token, Tokens

_DERIVED = re.compile(r"d*dot\{(.+)\}|([fghuy])'+")  # x' may be another coordinate


def is_quantity(symbol: sympy.Expr) -> bool:
    """Return whether a function on the left side is a quantity, as u(x, t), not an operation."""
    name = type(symbol).__name__
    applied = isinstance(symbol, sympy.core.function.AppliedUndef)
    letter = len(name.partition("_")[0].rstrip("'")) == 1
    return applied and (
        letter or name in GREEK or name.startswith(("mean", "derivative", "integral"))
    )


def is_law(symbol: sympy.Expr, value: Expression) -> bool:
    """Return whether ``symbol = value`` is an equation for a function: a derivative, and itself."""
    names = {item.name for item in value.value.free_symbols}
    if isinstance(symbol, sympy.Symbol):
        dotted = _DERIVED.fullmatch(symbol.name)
        base = dotted and (dotted[1] or dotted[2])
        return bool(base) and not names.isdisjoint({base, f"dot{{{base}}}", f"{base}'"})
    derivative = type(symbol).__name__.startswith("derivative")
    return derivative and bool(symbol.args[0].free_symbols & value.value.free_symbols)


def is_call(tokens: Tokens) -> bool:
    """Return whether tokens are a name before a bracket, such as u(x, t)."""
    opening = next((place for place, token in enumerate(tokens) if token.is_mark("(")), 0)
    if not opening or not closes_at_end(tokens[opening:]) or tokens[0].text in FUNCTIONS:
        return False
    name = [token for token in tokens[:opening] if not token.is_mark("_", "{", "}", "'")]
    return len(name) == 1 or (opening > 1 and tokens[1].is_mark("_"))


def is_difference(tokens: Tokens) -> bool:
    r"""Return whether tokens are a name such as ``\Delta E`` or ``ds^2``."""
    named = [token for token in tokens if token.kind in ("letter", "command")]
    first = tokens[0].is_command("Delta", "delta") or tokens[0] == Token("letter", "d")
    plain = not any(token.is_mark(*"+-*/=") for token in tokens)
    return first and plain and len(named) == 2  # noqa: PLR2004 - the sign and the letter

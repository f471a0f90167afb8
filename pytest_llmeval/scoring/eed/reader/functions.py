"""Reading functions: their exponents, bases and arguments."""

from __future__ import annotations

import re
from collections.abc import Callable

import sympy

from pytest_llmeval.scoring.eed.reader import guards
from pytest_llmeval.scoring.eed.reader.commands import FUNCTIONS, INVERSE
from pytest_llmeval.scoring.eed.reader.guards import FormulaError
from pytest_llmeval.scoring.eed.reader.reader import Reader
from pytest_llmeval.scoring.eed.reader.symbols import MATRIX, arguments_of, opaque

_CLOSING = {"(": ")", "[": "]"}
_KNOWN = frozenset({*INVERSE, *INVERSE.values(), "erf", "erfc", "sign"})
_SPECIAL: dict[str, Callable[[sympy.Expr], sympy.Expr]] = {
    "exp": lambda argument: guards.power(sympy.E, argument),
    "log10": lambda argument: sympy.log(argument, 10),
    "Gamma": lambda argument: sympy.gamma(guards.small(argument)),
    "sinc": lambda argument: sympy.sin(argument) / argument,
    "zeta": lambda argument: opaque("zeta", argument),
    "det": lambda argument: (
        argument.det() if isinstance(argument, MATRIX) else opaque("det", argument)
    ),
}
_ORDER = re.compile(r"([JP])_(\d{1,2})")
_ANGLE_COSINE = re.compile(r"(?:cos|[xuzt]$)")


def read_function(reader: Reader, name: str) -> sympy.Expr:
    """Read a function's exponent, base and argument, behind its name."""
    kind = FUNCTIONS.get(name, name)
    base: sympy.Expr | None = None
    power: sympy.Expr | None = None
    while mark := reader.cursor.take_mark("^", "_"):
        if mark == "^":
            power = reader.exponent()
        elif kind == "log":
            base = reader.argument()
        else:
            kind = f"{kind}_{reader.cursor.script()}"
    if power == -1 and kind in INVERSE:
        kind, power = INVERSE[kind], None
    value = _apply(kind, _arguments(reader), base)
    return value if power is None else guards.power(value, power)


def special_function(reader: Reader, name: str) -> sympy.Expr | None:
    r"""Read the bracket behind J_0, P_2 or \zeta as a Bessel, Legendre or zeta function's argument.

    Returns:
        None if the name is another, or its bracket looks like a factor; the cursor may have moved.
    """
    order = _ORDER.fullmatch(name)
    number = name == "zeta" and reader.cursor.peek(1).kind == "number"
    legendre = order and order[1] == "P" and _ANGLE_COSINE.match(reader.cursor.peek(1).text)
    if not (number or legendre or (order and order[1] == "J")):
        return None
    arguments = _arguments(reader)
    if len(arguments) != 1:
        return None
    if order is None:
        return opaque("zeta", *arguments)
    function = sympy.legendre if order[1] == "P" else sympy.besselj
    return function(int(order[2]), *arguments)


def _arguments(reader: Reader) -> tuple[sympy.Expr, ...]:
    """Read the arguments: a bracket, or the factors written together up to the next function."""
    bracket = reader.cursor.take_mark("(", "[")
    if bracket:
        return arguments_of(reader.bracketed(_CLOSING[bracket]))
    if reader.cursor.here.is_mark("{"):
        return arguments_of(reader.postfixed(reader.group()))
    value = reader.sign() * reader.factor()
    while reader.starts_factor() and not _ends(reader, value):
        value = value * reader.factor()
    return (value,)


def _ends(reader: Reader, so_far: sympy.Expr) -> bool:
    r"""Return whether the next token ends an argument without brackets.

    A bracket or a function does; behind symbols, a root or fraction does as well.
    """
    token = reader.cursor.here
    if token.is_command("sqrt", "frac"):
        return not so_far.is_number
    if token.is_command("ket", "bra", "braket"):
        return True
    return token.is_mark("(", "[") or (token.kind == "command" and token.text in FUNCTIONS)


def _apply(kind: str, arguments: tuple[sympy.Expr, ...], base: sympy.Expr | None) -> sympy.Expr:
    """Return the value of a function; FormulaError where it has none, as the maximum of i and 1."""
    try:
        return _applied(kind, arguments, base)
    except FormulaError:
        raise
    except (TypeError, ValueError) as error:
        msg = f"{kind} is not defined for its arguments"
        raise FormulaError(msg) from error


def _applied(kind: str, arguments: tuple[sympy.Expr, ...], base: sympy.Expr | None) -> sympy.Expr:
    """Return the value of a function; an unknown one becomes an undefined function."""
    if kind in ("Max", "Min"):
        return getattr(sympy, kind)(*arguments)
    if kind == "diag":
        return sympy.ImmutableDenseMatrix(sympy.diag(*arguments))
    if len(arguments) != 1:
        return opaque(kind, *arguments)
    (argument,) = arguments
    if kind == "log":
        return sympy.log(argument) if base is None else sympy.log(argument, base)
    if kind in _SPECIAL:
        return _SPECIAL[kind](argument)
    return getattr(sympy, kind)(argument) if kind in _KNOWN else opaque(kind, argument)

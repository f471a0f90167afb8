"""sympy expressions as JSON, read back node by node from a short list of kinds: nothing in a file is evaluated."""

from __future__ import annotations

from typing import Any

import sympy

from pytest_llmeval.records import Json

_NAMES = {
    value: str(value)
    for value in (sympy.pi, sympy.E, sympy.I, sympy.oo, -sympy.oo, sympy.EulerGamma)
}
_CONSTANTS = {name: value for value, name in _NAMES.items()}
_OPERATORS = {"Add": sympy.Add, "Mul": sympy.Mul, "Pow": sympy.Pow}


class NotPlain(ValueError):  # noqa: N818 - says what it is
    """The expression, or the JSON, holds something that is not on the list; the message names it."""


def to_json(expression: sympy.Basic) -> Json:
    """Return the expression as nested lists; NotPlain when `from_json` would not give the very same one."""
    written = _written(expression)
    if sympy.srepr(from_json(written)) != sympy.srepr(expression):
        msg = f"not the same when read back: {expression}"
        raise NotPlain(msg)
    return written


def _written(expression: sympy.Basic) -> Json:
    if expression in _NAMES:
        return ["constant", _NAMES[expression]]
    if isinstance(expression, sympy.Symbol):
        return ["symbol", expression.name, bool(expression.is_positive)]
    if isinstance(expression, sympy.Rational):
        return ["rational", str(expression.p), str(expression.q)]
    if isinstance(expression, sympy.Float):
        sign, mantissa, exponent, _ = expression._mpf_  # the exact value, by which it also compares
        return ["float", int(sign), str(mantissa), int(exponent), int(expression._prec)]  # noqa: SLF001 - sympy's only name for it
    arguments = [_written(argument) for argument in expression.args]
    if isinstance(expression, tuple(_OPERATORS.values())):
        return ["operator", type(expression).__name__, *arguments]
    if isinstance(expression, sympy.Function):
        return ["function", type(expression).__name__, *arguments]
    msg = f"no JSON for {type(expression).__name__}"
    raise NotPlain(msg)


def from_json(data: Json) -> sympy.Expr:
    """Return the expression that `to_json` wrote, unevaluated as it was; NotPlain or ValueError for anything else."""
    match data:
        case ["constant", str(name)] if name in _CONSTANTS:
            return _CONSTANTS[name]
        case ["symbol", str(name), bool(positive)]:
            return sympy.Symbol(name, positive=True) if positive else sympy.Symbol(name)
        case ["rational", str(upper), str(lower)]:
            return sympy.Rational(int(upper), int(lower))
        case ["float", int(sign), str(mantissa), int(exponent), int(precision)]:
            return sympy.Float((sign, int(mantissa), exponent), precision=precision)
        case ["operator", str(name), *arguments] if name in _OPERATORS:
            return _operator(_OPERATORS[name], [from_json(argument) for argument in arguments])
        case ["function", str(name), *arguments]:
            return _function(name, [from_json(argument) for argument in arguments])
    msg = f"no expression: {str(data)[:80]}"
    raise NotPlain(msg)


def _operator(kind: Any, arguments: list[sympy.Expr]) -> sympy.Expr:  # noqa: ANN401 - sympy ships no types
    if kind is sympy.Pow:
        base, exponent = arguments
        return sympy.Pow(base, exponent, evaluate=False)
    return kind._from_args(arguments)  # noqa: SLF001 - the one way that neither sorts nor merges


def _function(name: str, arguments: list[sympy.Expr]) -> sympy.Expr:
    """Apply sympy's function of that name, or an undefined one."""
    known = getattr(sympy, name, None)
    if isinstance(known, type) and issubclass(known, sympy.Function):
        return known(*arguments, evaluate=False)
    return sympy.Function(name)(*arguments)

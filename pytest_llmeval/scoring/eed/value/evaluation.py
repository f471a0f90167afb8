"""The value of an expression at a point, to thirty digits, by mpmath.

What would take long is not evaluated.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import mpmath
import sympy

Value: TypeAlias = Any  # an mpf or mpc; mpmath ships no types
Point: TypeAlias = Mapping[str, Value]

MP = mpmath.MPContext()
"""A separate context: other code may change the precision of mpmath's global one."""
MP.dps = 30

_HUGE = 10**6  # exponents and arguments beyond it are not evaluated
_SERIES_DIGITS = 25  # to which an infinite series is summed
_TERMS = 50  # of a finite sum or product
_ROUNDING = MP.mpf(10) ** -20  # relative; closer values are equal in a condition


class EvaluationError(ValueError):
    """The expression has no value at this point, or its value would take too long."""


def _close(a: Value, b: Value) -> bool:
    """Return whether two values are the same but for rounding."""
    if a == b:
        return True
    scale = max(abs(a), abs(b))
    return bool(MP.isfinite(scale) and abs(a - b) <= _ROUNDING * scale)


def _real(value: Value) -> Value:
    """Return a real value; EvaluationError for another, which has no order."""
    if isinstance(value, MP.mpc):
        if abs(value.imag) > _ROUNDING * abs(value):
            msg = "a complex number has no order"
            raise EvaluationError(msg)
        return value.real
    return value


_MPMATH_FUNCTIONS = (
    *("sin", "cos", "tan", "cot", "sec", "csc", "sinh", "cosh", "tanh", "coth", "sech", "csch"),
    *("asin", "acos", "atan", "acot", "asec", "acsc"),
    *("asinh", "acosh", "atanh", "acoth", "asech", "acsch"),
    *("exp", "log", "gamma", "factorial", "binomial", "floor", "erf", "erfc", "sign"),
    *("re", "im", "atan2", "besselj"),
)
_FUNCTIONS: Mapping[str, Callable[..., Value]] = {
    **{name: getattr(MP, name) for name in _MPMATH_FUNCTIONS},
    "Abs": abs,
    "conjugate": MP.conj,
    "ceiling": MP.ceil,
    "Max": max,
    "Min": min,
    "LambertW": MP.lambertw,
    "Mod": lambda a, b: a - b * MP.floor(a / b),
    "zeta": MP.zeta,
    "factorial2": MP.fac2,
    # A class of integers is no number; this is one for each class of each modulus.
    "Residue": lambda a, b: a - b * MP.floor(a / b) + MP.pi * b,
    "Less": lambda a, b: _real(a) < _real(b) and not _close(a, b),
    "LessEqual": lambda a, b: _real(a) < _real(b) or _close(a, b),
    "Same": _close,
    "Not": lambda condition: not condition,
    "All": lambda *conditions: all(conditions),
    "Any": lambda *conditions: any(conditions),
    "Otherwise": lambda: True,
}
"""The functions that can be evaluated, by sympy's name."""

_CONSTANTS: Mapping[sympy.Basic, Value] = {
    sympy.pi: MP.pi,
    sympy.E: MP.e,
    sympy.I: MP.mpc(0, 1),
    sympy.EulerGamma: MP.euler,
    sympy.oo: MP.inf,
    -sympy.oo: -MP.inf,
}

UNDEFINED = object()
"""The value of cases at a point that no case covers."""


_CONDITIONS = frozenset({"Less", "LessEqual", "Same", "Not", "All", "Any", "Otherwise"})


NO_VALUE = (EvaluationError, ArithmeticError, ValueError, TypeError)
"""What evaluating an expression raises at a point where it has no value."""


def real_value(expression: sympy.Basic, point: Point) -> Value | None:
    """Return the finite real value of an expression at a point; None if it has none."""
    try:
        value = Evaluation(point).of(expression)[0]
        return _real(value) if MP.isfinite(value) else None
    except NO_VALUE:
        return None


class Evaluation:
    """Evaluates expressions at one point; equal subexpressions are computed once."""

    def __init__(self, point: Point) -> None:
        """Evaluate at `point`, the values of the symbols by name."""
        self._point = dict(point)
        self._known: dict[sympy.Basic, Value] = {}
        self._real = True

    def of(self, expression: sympy.Basic) -> tuple[Value, bool]:
        """Return the value, and whether all subexpressions so far were real."""
        return self._value(expression), self._real

    def _value(self, expression: sympy.Basic) -> Value:
        known = self._known.get(expression)
        if known is None:
            known = self._known[expression] = self._compute(expression)
            if isinstance(known, MP.mpc) and known.imag:
                self._real = False
        return known

    def _compute(self, expression: sympy.Basic) -> Value:  # noqa: PLR0911 - one return a kind
        if isinstance(expression, sympy.Symbol):
            if expression.name not in self._point:
                msg = f"{expression.name} is bound"
                raise EvaluationError(msg)
            return self._point[expression.name]
        if isinstance(expression, sympy.Rational):
            return MP.mpf(expression.p) / expression.q
        if isinstance(expression, sympy.Float):
            return MP.mpf(str(expression))
        if isinstance(expression, sympy.Add):
            return MP.fsum(self._value(argument) for argument in expression.args)
        if isinstance(expression, sympy.Mul):
            return MP.fprod(self._value(argument) for argument in expression.args)
        if isinstance(expression, sympy.Pow):
            return self._power(*expression.args)
        if isinstance(expression, (sympy.Sum, sympy.Product)):
            return self._counted(expression)
        if isinstance(expression, sympy.Integral):
            return self._integral(expression)
        return self._function(expression)

    def _power(self, base: sympy.Basic, exponent: sympy.Basic) -> Value:
        foot, height = self._value(base), self._value(exponent)
        if abs(height) > _HUGE:
            msg = "exponent out of range"
            raise EvaluationError(msg)
        if exponent is sympy.S.Half:
            return MP.sqrt(foot)
        return MP.power(foot, height)

    def _function(self, expression: sympy.Basic) -> Value:
        constant = _CONSTANTS.get(expression)
        if constant is not None:
            return +constant
        name = type(expression).__name__
        if name == "Cases":
            return self._cases(expression)
        if name in ("Words", "Limit"):
            msg = f"no values for {name}"
            raise EvaluationError(msg)
        arguments = [self._value(argument) for argument in expression.args]
        if name not in _CONDITIONS and any(abs(argument) > _HUGE for argument in arguments):
            msg = "argument out of range"
            raise EvaluationError(msg)
        function = _FUNCTIONS.get(name)
        if function is not None:
            return function(*arguments)
        if expression.args and isinstance(expression, sympy.core.function.AppliedUndef):
            return _undefined(name, arguments)
        msg = f"no values for {name}"
        raise EvaluationError(msg)

    def _cases(self, expression: sympy.Basic) -> Value:
        """Return the value of the first case whose condition holds."""
        rows = sorted(expression.args, key=lambda row: type(row.args[1]).__name__ == "Otherwise")
        for row in rows:
            value, condition = row.args
            if self._value(condition):
                return self._value(value)
        return UNDEFINED

    def _counted(self, expression: sympy.Basic) -> Value:
        (variable, lower, upper), *more = expression.limits
        first, last = self._value(lower), self._value(upper)
        if isinstance(expression, sympy.Sum) and last == MP.inf and not more:
            return self._series(expression.function, variable, int(first))
        if more or first != int(first) or last != int(last) or not 0 <= last - first < _TERMS:
            msg = "not a short finite sum"
            raise EvaluationError(msg)
        values = [
            self._inner(expression.function, variable, MP.mpf(i))
            for i in range(int(first), int(last) + 1)
        ]
        return MP.fsum(values) if isinstance(expression, sympy.Sum) else MP.fprod(values)

    def _series(self, term: sympy.Basic, variable: sympy.Symbol, first: int) -> Value:
        with MP.workdps(_SERIES_DIGITS):
            return MP.nsum(lambda n: self._inner(term, variable, n), [first, MP.inf])

    def _integral(self, expression: sympy.Basic) -> Value:
        (variable, *limits), *more = expression.limits
        if more or len(limits) != 2:  # noqa: PLR2004 - a lower and an upper limit
            msg = "not a single definite integral"
            raise EvaluationError(msg)
        lower, upper = (self._value(limit) for limit in limits)
        return MP.quad(
            lambda x: self._inner(expression.function, variable, x), [lower, upper], maxdegree=6
        )

    def _inner(self, expression: sympy.Basic, variable: sympy.Symbol, value: Value) -> Value:
        return Evaluation({**self._point, variable.name: value}).of(expression)[0]


def _undefined(name: str, arguments: list[Value]) -> Value:
    """Return a pseudorandom value of an undefined function, by its name and rounded arguments."""
    text = ",".join([name, *(MP.nstr(argument, 12) for argument in arguments)])
    digest = hashlib.sha256(text.encode()).digest()
    return MP.mpf(int.from_bytes(digest[:8], "big")) / 2**64 * MP.mpf("0.3") + MP.mpf("0.35")

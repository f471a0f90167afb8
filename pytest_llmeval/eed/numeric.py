"""Comparing two expressions by their values at random positive points.

Two formulas that differ at one point where both are real are different; two that agree to eighteen digits at all of
several random points are the same. Either is far cheaper than a proof.
"""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeAlias

import mpmath
import sympy

Value: TypeAlias = Any  # an mpf or mpc; mpmath ships no types
Point: TypeAlias = Mapping[str, Value]

_MP = mpmath.MPContext()
"""A context of our own: the precision of mpmath's global one is anybody's."""
_MP.dps = 30

_SAME = _MP.mpf(10) ** -18
_SAME_DECIMAL = _MP.mpf(10) ** -8  # where a side holds a decimal, which was rounded by whoever wrote it
_DIFFERENT = _MP.mpf(10) ** -7
_REAL_POINTS = 6  # that must agree
_REAL_POINTS_BROKEN = 16  # where |x|, max and the like make formulas agree on half of the points
# Intervals that symbols are drawn from. Small first: there angles stay in the principal range of the inverse
# functions, and a speed may be below that of light; near each other, so that triangles close. The last holds the
# refractive indices and ratios above 1.
_INTERVALS = ((0.35, 0.65), (0.05, 0.65), (0.3, 0.5), (0.2, 2.5), (1.05, 1.9), (0.1, 5.0))
_DRAWS = 8  # from each interval
_HUGE = 10**6  # exponents and arguments beyond it are not evaluated
_TERMS = 50  # of a finite sum or product

_BROKEN = (sympy.Abs, sympy.Max, sympy.Min, sympy.floor, sympy.ceiling, sympy.sign, sympy.Piecewise, sympy.Mod)

_MPMATH_FUNCTIONS = (
    *("sin", "cos", "tan", "cot", "sec", "csc", "sinh", "cosh", "tanh", "coth", "sech", "csch"),
    *("asin", "acos", "atan", "acot", "asec", "acsc", "asinh", "acosh", "atanh", "acoth", "asech", "acsch"),
    *("exp", "log", "gamma", "factorial", "binomial", "floor", "erf", "erfc", "sign", "re", "im", "atan2", "besselj"),
)


class CannotEvaluate(ValueError):  # noqa: N818 - says what happened
    """The expression has no number at this point, or none that is worth its price."""


def compare(one: sympy.Basic, other: sympy.Basic) -> bool | None:
    """Return whether the expressions have the same values: None where the points do not decide it."""
    names = sorted({symbol.name for side in (one, other) for symbol in side.free_symbols})
    wanted = _REAL_POINTS_BROKEN if one.has(*_BROKEN) or other.has(*_BROKEN) else _REAL_POINTS
    tolerance = _SAME_DECIMAL if one.has(sympy.Float) or other.has(sympy.Float) else _SAME
    found: Counter[_Finding] = Counter()
    for gap, real in _gaps(one, other, names):
        if tolerance < gap <= _DIFFERENT:
            return None
        finding = _Finding(real=real, agrees=gap <= tolerance)
        if finding == _DIFFERS:
            return False
        found[finding] += 1
        if found[_AGREES] == (wanted if names else 1):
            return True
    return _from_few_points(found, wanted)


def different(one: sympy.Basic, other: sympy.Basic) -> bool:
    """Return whether some point shows the expressions to differ clearly."""
    return compare(one, other) is False


class _Finding(NamedTuple):
    """What one point tells: whether everything there was real, and whether the values agree."""

    real: bool
    agrees: bool


_AGREES = _Finding(real=True, agrees=True)
_DIFFERS = _Finding(real=True, agrees=False)


def _from_few_points(found: Counter[_Finding], wanted: int) -> bool | None:
    """Decide when the points ran out: formulas that are real hardly anywhere, or nowhere."""
    if found[_AGREES]:
        return found[_AGREES] >= wanted // 2 or None
    if found[_Finding(real=False, agrees=False)]:
        return False
    return found[_Finding(real=False, agrees=True)] >= wanted or None


def _gaps(one: sympy.Basic, other: sympy.Basic, names: Sequence[str]) -> Iterator[tuple[Value, bool]]:
    """Yield the relative gap between the values, and whether they are real, at the points where both have one."""
    integers = _limit_symbols(one) | _limit_symbols(other)
    imaginary = one.has(sympy.I) or other.has(sympy.I)
    seen = False
    for number in range(_DRAWS * len(_INTERVALS)):
        interval = _INTERVALS[number // _DRAWS]
        point = {name: _draw(name, number, interval, integer=name in integers) for name in names}
        try:
            (left, left_real), (right, right_real) = Evaluation(point).of(one), Evaluation(point).of(other)
            gap = _relative_gap(left, right)
        except (CannotEvaluate, ArithmeticError, ValueError, TypeError):
            if number >= _DRAWS and not seen:
                return  # no value in a whole interval: it holds something that has none
            continue
        seen = True
        yield gap, imaginary or (left_real and right_real)


def _draw(name: str, number: int, interval: tuple[float, float], *, integer: bool) -> Value:
    """Return a symbol's value in one draw: a function of name and number alone, so that every process agrees."""
    source = random.Random(f"{number}:{name}")  # noqa: S311 - reproducible on purpose
    return _MP.mpf(source.randint(2, 5)) if integer else _MP.mpf(source.uniform(*interval))


def _relative_gap(left: Value, right: Value) -> Value:
    if left == right:
        return _MP.mpf(0)
    scale = max(abs(left), abs(right))
    if not _MP.isfinite(scale):
        msg = "infinite"
        raise CannotEvaluate(msg)
    return abs(left - right) / scale


def _limit_symbols(expression: sympy.Basic) -> set[str]:
    """Return the symbols in limits of sums and products, which count things."""
    counted = expression.atoms(sympy.Sum, sympy.Product)
    return {symbol.name for item in counted for limit in item.limits for symbol in sympy.Tuple(*limit[1:]).free_symbols}


class Evaluation:
    """The values of expressions at one point; equal subexpressions are computed once."""

    def __init__(self, point: Point) -> None:
        """Take the values of the symbols by name."""
        self._point = dict(point)
        self._known: dict[sympy.Basic, Value] = {}
        self._real = True

    def of(self, expression: sympy.Basic) -> tuple[Value, bool]:
        """Return the value, and whether every part of it was real."""
        return self._value(expression), self._real

    def _value(self, expression: sympy.Basic) -> Value:
        known = self._known.get(expression)
        if known is None:
            known = self._known[expression] = self._compute(expression)
            if isinstance(known, _MP.mpc) and known.imag:
                self._real = False
        return known

    def _compute(self, expression: sympy.Basic) -> Value:  # noqa: PLR0911 - one return a kind of node
        if isinstance(expression, sympy.Symbol):
            if expression.name not in self._point:
                msg = f"{expression.name} is bound"
                raise CannotEvaluate(msg)
            return self._point[expression.name]
        if isinstance(expression, sympy.Rational):
            return _MP.mpf(expression.p) / expression.q
        if isinstance(expression, sympy.Float):
            return _MP.mpf(str(expression))
        if isinstance(expression, sympy.Add):
            return _MP.fsum(self._value(argument) for argument in expression.args)
        if isinstance(expression, sympy.Mul):
            return _MP.fprod(self._value(argument) for argument in expression.args)
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
            raise CannotEvaluate(msg)
        if exponent is sympy.S.Half:
            return _MP.sqrt(foot)
        return _MP.power(foot, height)

    def _function(self, expression: sympy.Basic) -> Value:
        constant = _constants().get(expression)
        if constant is not None:
            return +constant
        name = type(expression).__name__
        arguments = [self._value(argument) for argument in expression.args]
        if any(abs(argument) > _HUGE for argument in arguments):
            msg = "argument out of range"
            raise CannotEvaluate(msg)
        function = _functions().get(name)
        if function is not None:
            return function(*arguments)
        if expression.args and isinstance(expression, sympy.core.function.AppliedUndef):
            return _undefined(name, arguments)
        msg = f"no values for {name}"
        raise CannotEvaluate(msg)

    def _counted(self, expression: sympy.Basic) -> Value:
        (variable, lower, upper), *more = expression.limits
        first, last = self._value(lower), self._value(upper)
        if more or first != int(first) or last != int(last) or not 0 <= last - first < _TERMS:
            msg = "not a short finite sum"
            raise CannotEvaluate(msg)
        values = [self._inner(expression.function, variable, _MP.mpf(i)) for i in range(int(first), int(last) + 1)]
        return _MP.fsum(values) if isinstance(expression, sympy.Sum) else _MP.fprod(values)

    def _integral(self, expression: sympy.Basic) -> Value:
        (variable, *limits), *more = expression.limits
        if more or len(limits) != 2:  # noqa: PLR2004 - a lower and an upper limit
            msg = "not a single definite integral"
            raise CannotEvaluate(msg)
        lower, upper = (self._value(limit) for limit in limits)
        return _MP.quad(lambda x: self._inner(expression.function, variable, x), [lower, upper], maxdegree=6)

    def _inner(self, expression: sympy.Basic, variable: sympy.Symbol, value: Value) -> Value:
        return Evaluation({**self._point, variable.name: value}).of(expression)[0]


@cache
def _constants() -> dict[sympy.Basic, Value]:
    return {
        sympy.pi: _MP.pi,
        sympy.E: _MP.e,
        sympy.I: _MP.mpc(0, 1),
        sympy.EulerGamma: _MP.euler,
    }


@cache
def _functions() -> dict[str, Callable[..., Value]]:
    """Return the functions with values, by sympy's name."""
    named = {name: getattr(_MP, name) for name in _MPMATH_FUNCTIONS}
    return {
        **named,
        "Abs": abs,
        "conjugate": _MP.conj,
        "ceiling": _MP.ceil,
        "Max": max,
        "Min": min,
        "LambertW": _MP.lambertw,
        "Mod": lambda a, b: a - b * _MP.floor(a / b),
    }


def _undefined(name: str, arguments: list[Value]) -> Value:
    """Return a value that depends on nothing but the function's name and its arguments' leading digits."""
    text = ",".join([name, *(_MP.nstr(argument, 12) for argument in arguments)])
    digest = hashlib.sha256(text.encode()).digest()
    return _MP.mpf(int.from_bytes(digest[:8], "big")) / 2**64 * _MP.mpf("0.3") + _MP.mpf("0.35")

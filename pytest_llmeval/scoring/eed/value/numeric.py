"""Comparison of two expressions by their values at random positive points.

Two formulas that differ at a point where both are real are different; two that agree to eighteen
digits at several random points are equal. Both cost far less than a proof.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import sympy

from pytest_llmeval.scoring.eed.value.branches import branch_points
from pytest_llmeval.scoring.eed.value.evaluation import (
    MP,
    NO_VALUE,
    UNDEFINED,
    Evaluation,
    EvaluationError,
    Value,
)

_SAME = MP.mpf(10) ** -18
_SAME_DECIMAL = MP.mpf(10) ** -8  # if a side has a decimal, which may be rounded
_SAME_SUMMED = MP.mpf(10) ** -11  # if a side is an integral or series, which is summed up
_SUMMED = (sympy.Integral, sympy.Sum)
_DIFFERENT = MP.mpf(10) ** -7
_REAL_POINTS = 6  # that must agree
_REAL_POINTS_BROKEN = 16  # with |x|, max and the like different formulas may agree at half of them
# Intervals of the symbols' values. Small values come first: there angles stay in the principal
# range of the inverse functions, and speeds below that of light. Narrow intervals let triangles
# close. The last two have values above 1, for refractive indices and ratios.
_INTERVALS = ((0.35, 0.65), (0.05, 0.65), (0.3, 0.5), (0.2, 2.5), (1.05, 1.9), (0.1, 5.0))
_POINTS = 8  # in each interval

_BRANCHED_POINTS = 2  # points from which those on the branches of cases are made
_CASES = sympy.Function("Cases")

_BROKEN = (
    sympy.Abs,
    sympy.Max,
    sympy.Min,
    sympy.floor,
    sympy.ceiling,
    sympy.sign,
    sympy.Piecewise,
    sympy.Mod,
    _CASES,
)


def compare(one: sympy.Basic, other: sympy.Basic) -> bool | None:
    """Return whether the expressions have the same values; None if the points do not decide."""
    names = sorted({symbol for side in (one, other) for symbol in side.free_symbols}, key=str)
    wanted = _REAL_POINTS_BROKEN if one.has(*_BROKEN) or other.has(*_BROKEN) else _REAL_POINTS
    if one.has(_CASES) or other.has(_CASES):
        wanted = _POINTS * len(_INTERVALS)
    tolerance = _tolerance(one, other)
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


def _tolerance(one: sympy.Basic, other: sympy.Basic) -> Value:
    if one.has(sympy.Float) or other.has(sympy.Float):
        return _SAME_DECIMAL
    summed = one.has(*_SUMMED) or other.has(*_SUMMED)
    return _SAME_SUMMED if summed else _SAME


def different(one: sympy.Basic, other: sympy.Basic) -> bool:
    """Return whether the expressions differ clearly at some point."""
    return compare(one, other) is False


class _Finding(NamedTuple):
    """The result at one point: whether all values were real, and whether the two sides agree."""

    real: bool
    agrees: bool


_AGREES = _Finding(real=True, agrees=True)
_DIFFERS = _Finding(real=True, agrees=False)


def _from_few_points(found: Counter[_Finding], wanted: int) -> bool | None:
    """Return the decision on formulas that are real at few points or none."""
    if found[_AGREES]:
        return found[_AGREES] >= wanted // 2 or None
    if found[_Finding(real=False, agrees=False)]:
        return False
    return found[_Finding(real=False, agrees=True)] >= wanted or None


def _gaps(
    one: sympy.Basic, other: sympy.Basic, names: Sequence[sympy.Symbol]
) -> Iterator[tuple[Value, bool]]:
    """Yield the relative gap of the values and whether they are real, at points with values."""
    imaginary = (
        one.has(sympy.I) or other.has(sympy.I) or any(name.is_real is None for name in names)
    )
    seen = False
    for number, (point, at_end) in enumerate(_points(one, other, names)):
        try:
            left, left_real = Evaluation(point).of(one)
            right, right_real = Evaluation(point).of(other)
            undefined = [side is UNDEFINED for side in (left, right)]
            if all(undefined) or (at_end and any(undefined)):
                continue
            gap = _relative_gap(left, right)
        except NO_VALUE:
            if number >= _POINTS and not seen:
                return  # no value in a whole interval: a part of it cannot be evaluated at all
            continue
        seen = True
        yield gap, imaginary or (left_real and right_real)


def _points(
    one: sympy.Basic, other: sympy.Basic, names: Sequence[sympy.Symbol]
) -> Iterator[tuple[dict[str, Value], bool]]:
    """Yield points, and whether each is the end of a case; those on each branch come first."""
    integers = _limit_symbols(one) | _limit_symbols(other)
    broken = one.has(*_BROKEN) or other.has(*_BROKEN)
    cases = one.has(_CASES) or other.has(_CASES)
    for number in range(_POINTS * len(_INTERVALS)):
        # A function with a kink is tested on all its branches, so on all intervals in turn.
        place = number % len(_INTERVALS) if broken else number // _POINTS
        point = {
            name.name: _random_value(name, number, _INTERVALS[place], integer=name.name in integers)
            for name in names
        }
        if cases and number < _BRANCHED_POINTS:
            yield from branch_points((one, other), point)
        yield point, False


def _random_value(
    name: sympy.Symbol, number: int, interval: tuple[float, float], *, integer: bool
) -> Value:
    """Return a symbol's value at a point: positive, of either sign, or complex, as assumed of it.

    It depends on the arguments only, not on the process.
    """
    source = random.Random(f"{number}:{name.name}")  # noqa: S311 - reproducible on purpose
    if integer:
        return MP.mpf(source.randint(2, 5))
    value = MP.mpf(source.uniform(*interval))
    if name.is_positive:
        return value
    if name.is_real:
        return value * source.choice((-1, 1))
    return MP.mpc(value, source.uniform(-1, 1))


def _relative_gap(left: Value, right: Value) -> Value:
    if left is UNDEFINED or right is UNDEFINED:
        return MP.mpf(1)
    if left == right:
        return MP.mpf(0)
    scale = max(abs(left), abs(right))
    if not MP.isfinite(scale):
        msg = "infinite"
        raise EvaluationError(msg)
    return abs(left - right) / scale


def _limit_symbols(expression: sympy.Basic) -> set[str]:
    """Return the symbols in limits of sums and products, whose values are integers."""
    counted = expression.atoms(sympy.Sum, sympy.Product)
    return {
        symbol.name
        for item in counted
        for limit in item.limits
        for symbol in sympy.Tuple(*limit[1:]).free_symbols
    }

"""Reading derivatives, integrals, sums, products and limits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import sympy

from pytest_llmeval.eed.cursor import written
from pytest_llmeval.eed.guards import Refused
from pytest_llmeval.eed.symbols import opaque, symbol
from pytest_llmeval.eed.tokens import Token

if TYPE_CHECKING:
    from pytest_llmeval.eed.latex import Reader

_D = Token("letter", "d")


def derivative(reader: Reader) -> sympy.Expr | None:
    r"""Read the rest of ``\frac{dV}{dx}`` or ``\frac{\partial V}{\partial x}``; None when it is another fraction."""
    start = reader.cursor.position
    if reader.cursor.here.is_mark("{"):
        upper, lower = reader.cursor.group(), reader.cursor.group()
        if _is_differential(upper) and _is_differential(lower) and len(lower) > 1:
            order, inside = _order(upper[1:])
            variable = symbol(written(lower[1:]))
            if inside:
                return opaque(f"derivative{order}", reader.parse(inside), variable)
            return opaque(f"d{order}", variable)
    reader.cursor.position = start
    return None


def _is_differential(tokens: Sequence[Token]) -> bool:
    return bool(tokens) and (tokens[0] == _D or tokens[0].is_command("partial"))


def _order(tokens: Sequence[Token]) -> tuple[str, Sequence[Token]]:
    """Split a numerator such as d^2 V behind its d: the order as text, and what is differentiated."""
    if len(tokens) < 2 or not tokens[0].is_mark("^"):  # noqa: PLR2004 - a sign and an order
        return "", tokens
    if not tokens[1].is_mark("{"):
        return tokens[1].text, tokens[2:]
    close = next((k for k, token in enumerate(tokens) if token.is_mark("}")), len(tokens) - 1)
    return written(tokens[2:close]), tokens[close + 1 :]


def _limits(reader: Reader) -> tuple[Sequence[Token], Sequence[Token]]:
    """Take what stands below and above a large operator."""
    lower: Sequence[Token] = ()
    upper: Sequence[Token] = ()
    while mark := reader.cursor.take_mark("_", "^"):
        if mark == "_":
            lower = reader.cursor.group()
        else:
            upper = reader.cursor.group()
    return lower, upper


def _split(tokens: Sequence[Token], *names: str) -> tuple[Sequence[Token], Sequence[Token]] | None:
    """Split tokens at the first with one of these texts."""
    place = next((k for k, token in enumerate(tokens) if token.text in names), None)
    return None if place is None else (tokens[:place], tokens[place + 1 :])


def _variable(expression: sympy.Expr, what: str) -> sympy.Symbol:
    if not expression.is_Symbol:
        msg = f"{what} over {expression}, which is no symbol"
        raise Refused(msg)
    return expression


def _limit(reader: Reader) -> sympy.Expr:
    split = _split(_limits(reader)[0], "to", "rightarrow")
    if split is None:
        msg = "a limit without an arrow"
        raise Refused(msg)
    variable, goal = _variable(reader.parse(split[0]), "a limit"), reader.parse(split[1])
    return sympy.Limit(reader.term(), variable, goal)


def _counted(reader: Reader, kind: Callable[..., sympy.Expr]) -> sympy.Expr:
    r"""Read ``\sum`` and ``\prod``: subscripts that hold the index make functions of it."""
    lower, upper = _limits(reader)
    split = _split(lower, "=")
    body = reader.term()
    if split is None or not upper:
        return opaque(f"{kind.__name__}_{written(lower)}", body)
    index = _variable(reader.parse(split[0]), "a sum")
    return kind(_indexed(body, index), (index, reader.parse(split[1]), reader.parse(upper)))


def _indexed(body: sympy.Expr, index: sympy.Symbol) -> sympy.Expr:
    """Make q_n a function of n where n is summed over."""
    suffix = f"_{index.name}"
    indexed = (item for item in body.free_symbols if item.name.endswith(suffix))
    return body.xreplace({item: opaque(item.name.removesuffix(suffix), index) for item in indexed})


def _integral(reader: Reader) -> sympy.Expr:
    """Read an integral up to its differential."""
    lower, upper = _limits(reader)
    start = reader.cursor.position
    _go_to_differential(reader)
    inside = reader.cursor.since(start)
    reader.cursor.take()
    integrand = reader.parse(inside) if inside else sympy.Integer(1)
    variable = _variable(reader.factor(), "an integral")
    if not (lower and upper):
        return opaque("integral", integrand, variable)
    return sympy.Integral(integrand, (variable, reader.parse(lower), reader.parse(upper)))


def _go_to_differential(reader: Reader) -> None:
    """Go to the d of the differential."""
    depth = 0
    while not reader.cursor.done and depth >= 0:
        token = reader.cursor.here
        if depth == 0 and token == _D and reader.cursor.peek(1).kind in ("letter", "command"):
            return
        depth += token.is_mark("{", "(") - token.is_mark("}", ")")
        reader.cursor.take()
    msg = "an integral without a differential"
    raise Refused(msg)


CALCULUS: dict[str, Callable[[Reader], sympy.Expr]] = {
    "lim": _limit,
    "int": _integral,
    "oint": _integral,
    "sum": lambda reader: _counted(reader, sympy.Sum),
    "prod": lambda reader: _counted(reader, sympy.Product),
}
"""Commands and who reads on behind them."""

"""Reading derivatives, integrals, sums, products and limits."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import sympy

from pytest_llmeval.scoring.eed.reader.cursor import written
from pytest_llmeval.scoring.eed.reader.guards import FormulaError
from pytest_llmeval.scoring.eed.reader.reader import Reader
from pytest_llmeval.scoring.eed.reader.symbols import opaque, product, renamed
from pytest_llmeval.scoring.eed.reader.token import Token

_COMMON = re.compile(r"index\d")
_D = Token("letter", "d")


def read_derivative(reader: Reader) -> sympy.Expr | None:
    r"""Read the arguments of ``\frac{dV}{dx}`` or ``\frac{\partial V}{\partial x}``.

    Returns:
        None for another fraction, which is left unread.
    """
    start = reader.cursor.position
    if reader.cursor.here.is_mark("{"):
        upper, lower = reader.cursor.group(), reader.cursor.group()
        if _is_differential(upper) and _is_differential(lower) and len(lower) > 1:
            order, inside = _order(upper[1:])
            name = written(lower[1:])
            variable = reader.symbol(name if reader.notation.tensors else name.partition("^")[0])
            if not inside and reader.starts_factor():
                return _derivative(product(reader.product()), variable, order)
            if inside:
                dotted = _dotted(reader, order, inside, variable.name)
                if dotted is not None and upper[0] == _D:
                    return dotted
                return opaque(f"derivative{order}", reader.parse(inside), variable)
            return opaque(f"d{order}", variable)
    reader.cursor.position = start
    return None


def _derivative(operand: sympy.Expr, variable: sympy.Symbol, order: str) -> sympy.Expr:
    """Return the derivative of a formula that shows the variable; else an undefined function."""
    known = not operand.atoms(sympy.core.function.AppliedUndef)
    if known and operand.has(variable) and not operand.is_Symbol and order in ("", "2", "3"):
        return sympy.diff(operand, variable, int(order or 1))
    if known and not order and not operand.is_Symbol:
        return sympy.Add(
            *(
                sympy.diff(operand, name) * opaque("derivative", name, variable)
                for name in sorted(operand.free_symbols, key=str)
            )
        )
    return opaque(f"derivative{order}", operand, variable)


def _dotted(
    reader: Reader, order: str, inside: Sequence[Token], variable: str
) -> sympy.Expr | None:
    r"""Return dx/dt as the symbol that ``\dot x`` is read as; None for another derivative."""
    accent = {"": "dot", "2": "ddot", "3": "dddot"}.get(order)
    value = reader.parse(inside)
    if accent is None or not variable.startswith("t") or not value.is_Symbol:
        return None
    name, underscore, subscript = value.name.partition("_")
    name = name.replace("{", "").replace("}", "")
    return reader.symbol(f"{accent}{{{name}}}{underscore}{subscript}")


def _is_differential(tokens: Sequence[Token]) -> bool:
    return bool(tokens) and (tokens[0] == _D or tokens[0].is_command("partial"))


def _order(tokens: Sequence[Token]) -> tuple[str, Sequence[Token]]:
    """Split a numerator such as d^2 V behind its d: the order as text, and the function."""
    if not tokens[1:] or not tokens[0].is_mark("^"):
        return "", tokens
    if not tokens[1].is_mark("{"):
        return tokens[1].text, tokens[2:]
    close = next((k for k, token in enumerate(tokens) if token.is_mark("}")), len(tokens) - 1)
    return written(tokens[2:close]), tokens[close + 1 :]


def _limits(reader: Reader) -> tuple[Sequence[Token], Sequence[Token]]:
    """Take the lower and the upper limit of a large operator; each may be missing."""
    lower: Sequence[Token] = ()
    upper: Sequence[Token] = ()
    while mark := reader.cursor.take_mark("_", "^"):
        if mark == "_":
            lower = reader.cursor.group()
        else:
            upper = reader.cursor.group()
    return lower, upper


def _split(tokens: Sequence[Token], *names: str) -> tuple[Sequence[Token], Sequence[Token]] | None:
    """Return the tokens before and behind the first one of these texts; None if there is none."""
    place = next((k for k, token in enumerate(tokens) if token.text in names), None)
    return None if place is None else (tokens[:place], tokens[place + 1 :])


def _variable(expression: sympy.Expr, what: str) -> sympy.Symbol:
    if not expression.is_Symbol:
        msg = f"{what} over {expression}, which is no symbol"
        raise FormulaError(msg)
    return expression


def _limit(reader: Reader) -> sympy.Expr:
    split = _split(_limits(reader)[0], "to", "rightarrow")
    if split is None:
        msg = "a limit without an arrow"
        raise FormulaError(msg)
    variable, (goal, direction) = _variable(reader.parse(split[0]), "a limit"), _directed(split[1])
    return opaque("Limit", reader.term(), variable, reader.parse(goal), sympy.Integer(direction))


def _directed(goal: Sequence[Token]) -> tuple[Sequence[Token], int]:
    """Split 0^- or 0^{-} into the value approached and the side: 1, by default, or -1."""
    plain = [token for token in goal if not token.is_mark("{", "}")]
    if plain[2:] and plain[-2].is_mark("^") and plain[-1].is_mark("+", "-"):
        return plain[:-2], 1 if plain[-1].text == "+" else -1
    return goal, 1


def _counted(reader: Reader, kind: Callable[..., sympy.Expr]) -> sympy.Expr:
    r"""Read ``\sum`` or ``\prod``; a symbol whose subscript is the index is a function of it."""
    lower, upper = _limits(reader)
    split = _split(lower, "=")
    body = reader.term()
    if split is None or not upper:
        return opaque(f"{kind.__name__}_over", _with_common_index(body, written(lower)))
    index = _variable(reader.parse(split[0]), "a sum")
    first, last = reader.parse(split[1]), reader.parse(upper)
    if body.is_commutative is False:
        common = reader.symbol(_common_index(body))
        body, index = _with_common_index(body, index.name), common
    return kind(_indexed(body, index), (index, first, last))


def _with_common_index(body: sympy.Expr, index: str) -> sympy.Expr:
    """Return a body with the same name for its index, also in subscripts and states."""
    if not index.isalpha():
        return opaque(f"over_{index}", body)
    word = re.compile(rf"(?<![A-Za-z]){re.escape(index)}(?![A-Za-z])")
    common = _common_index(body)
    return body.xreplace(
        {item: renamed(item, word.sub(common, item.name)) for item in body.free_symbols}
    )


def _common_index(body: sympy.Expr) -> str:
    """Return a name that no sum inside the body has for its index."""
    inner = {name for item in body.free_symbols for name in _COMMON.findall(item.name)}
    return f"index{len(inner) + 1}"


def _indexed(body: sympy.Expr, index: sympy.Symbol) -> sympy.Expr:
    """Replace each symbol q_n by a function q of the index n."""
    suffix = f"_{index.name}"
    indexed = (item for item in body.free_symbols if item.name.endswith(suffix))
    return body.xreplace({item: opaque(item.name.removesuffix(suffix), index) for item in indexed})


def _closed_integral(reader: Reader) -> sympy.Expr:
    """Read an integral over a closed path or surface, whose name is left out as often as not."""
    _limits(reader)
    return opaque("closed_integral", _integral(reader))


def _integral(reader: Reader) -> sympy.Expr:
    """Read an integral with its differential."""
    lower, upper = _limits(reader)
    place = _differential(reader)
    if place is None:
        integrand, variable = _with_differential_inside(reader)
    else:
        inside = reader.cursor.until(place)
        reader.cursor.take()
        if inside and inside[-1].is_command("cdot"):
            inside = inside[:-1]
        variable = _variable(reader.factor(), "an integral") if not inside else None
        if variable is not None and reader.starts_factor():  # the differential stands in front
            integrand = reader.term()
        else:
            integrand = reader.parse(inside) if inside else sympy.Integer(1)
        variable = variable or _variable(reader.factor(), "an integral")
    if not (lower and upper):
        return opaque(f"integral{'_' * bool(lower)}{written(lower)}", integrand, variable)
    return sympy.Integral(integrand, (variable, reader.parse(lower), reader.parse(upper)))


def _differential(reader: Reader) -> int | None:
    """Return the position of the differential's d, outside brackets and inner integrals."""
    depth, open_integrals = 0, 1
    for place, token in enumerate(reader.cursor.rest, reader.cursor.position):
        open_integrals += token.is_command("int", "oint")
        depth += token.is_mark("{", "(") - token.is_mark("}", ")")
        if depth < 0:
            break
        if depth == 0 and _starts_differential(reader, place):
            open_integrals -= 1
            if not open_integrals:
                return place
    return None


def _starts_differential(reader: Reader, place: int) -> bool:
    variable = reader.cursor.at(place + 1)
    return reader.cursor.at(place) == _D and variable.kind in ("letter", "command")


def _with_differential_inside(reader: Reader) -> tuple[sympy.Expr, sympy.Symbol]:
    r"""Read an integrand that contains its differential, as in ``\int \frac{dx}{x}``."""
    rest, start = reader.cursor.rest, reader.cursor.position
    place = next((k for k in range(len(rest)) if _starts_differential(reader, start + k)), None)
    if place is None:
        msg = "an integral without a differential"
        raise FormulaError(msg)
    variable = _variable(reader.parse(rest[place + 1 : place + 2]), "an integral")
    inner = reader.over([*rest[:place], Token("number", "1"), *rest[place + 2 :]])
    integrand = product(inner.product())
    reader.cursor.skip_to(remaining=len(inner.cursor.rest))
    return integrand, variable


def _partial(reader: Reader) -> sympy.Expr:
    r"""Read ``\partial_x V``, the derivative of the factor that follows."""
    reader.cursor.take()
    variable = reader.symbol(reader.cursor.script())
    order = written(reader.cursor.group()) if reader.cursor.take_mark("^") else ""
    if not reader.starts_factor():
        return opaque(f"d{order}", variable)
    return opaque(f"derivative{order}", reader.factor(), variable)


CALCULUS: dict[str, Callable[[Reader], sympy.Expr]] = {
    "partial": _partial,
    "lim": _limit,
    "int": _integral,
    "oint": _closed_integral,
    "sum": lambda reader: _counted(reader, sympy.Sum),
    "prod": lambda reader: _counted(reader, sympy.Product),
}
"""The reading function of each command."""

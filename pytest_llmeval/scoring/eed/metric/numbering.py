"""Numbers in place of symbols' names, so that names do not influence a distance.

sympy orders arguments by name, and sometimes simplifies by that order; a tree distance depends on
it. Here symbols are distinguished by their positions: by colour refinement (Weisfeiler and Leman
1968), first in the target alone, so that its numbers are the same for every answer, then in both
formulas. Symbols with equivalent positions are interchangeable, and are ordered by name.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import sympy

from pytest_llmeval.scoring.eed.reader.symbols import symbol

_ROUNDS = 6  # of refinement; real formulas take two or three
_COMMUTATIVE = (sympy.Add, sympy.Mul, sympy.Max, sympy.Min)

_Colours = Mapping[sympy.Symbol, str]


def symbol_numbers(target: sympy.Expr, answer: sympy.Expr) -> dict[sympy.Symbol, sympy.Symbol]:
    """Return a numbered symbol for each symbol of two formulas.

    The target's symbols come first, and subtracted ones after the others: sympy writes a difference
    as its first symbol less the second.
    """
    in_target = _refined(dict.fromkeys(target.atoms(sympy.Symbol), ""), [target])
    others = dict.fromkeys(answer.atoms(sympy.Symbol) - in_target.keys(), "not in the target")
    in_both = _refined({**in_target, **others}, [target, answer])
    by_target, by_answer = _subtracted(target), _subtracted(answer)

    def order(item: sympy.Symbol) -> tuple[bool, int, str, int, str, str]:
        place = in_target.get(item, "")
        return item in others, by_target[item], place, by_answer[item], in_both[item], item.name

    return {item: symbol(f"x{number:04}") for number, item in enumerate(sorted(in_both, key=order))}


def _subtracted(formula: sympy.Expr) -> Counter[sympy.Symbol]:
    """Return how many products with a negative coefficient each symbol occurs in."""
    negative = [term for term in formula.atoms(sympy.Mul) if term.as_coeff_Mul()[0].is_negative]
    return Counter(item for term in negative for item in term.atoms(sympy.Symbol))


def _refined(colours: _Colours, formulas: Sequence[sympy.Expr]) -> _Colours:
    """Refine the colours by the symbols' positions among them, until nothing changes."""
    for _ in range(_ROUNDS):
        places = [_Positions(formula, colours).of for formula in formulas]
        finer = {
            item: _digest([colour, *(_digest(sorted(of.get(item, ()))) for of in places)])
            for item, colour in colours.items()
        }
        stable = len(set(finer.values())) == len(set(colours.values()))
        colours = finer
        if stable:
            break
    return colours


class _Positions:
    """The positions of each symbol in a formula, as digests in `of`.

    A position consists of the nodes above, and of the argument number in those that do not commute.
    """

    def __init__(self, formula: sympy.Expr, colours: _Colours) -> None:
        self.of: dict[sympy.Symbol, list[str]] = {}
        self._colours = colours
        self._shapes: dict[sympy.Basic, str] = {}
        self._visit(formula, "")

    def _visit(self, node: sympy.Basic, above: str) -> None:
        if isinstance(node, sympy.Symbol):
            self.of.setdefault(node, []).append(above)
            return
        here = _digest([above, self._shape(node)])
        for number, child in enumerate(node.args):
            self._visit(
                child, here if isinstance(node, _COMMUTATIVE) else _digest([here, str(number)])
            )

    def _shape(self, node: sympy.Basic) -> str:
        """Return a digest of a subtree, with colours in place of symbols' names."""
        shape = self._shapes.get(node)
        if shape is None:
            shape = self._shapes[node] = _digest(self._parts(node))
        return shape

    def _parts(self, node: sympy.Basic) -> Iterable[str]:
        if isinstance(node, sympy.Symbol):
            return ["symbol", self._colours[node]]
        if not node.args:
            return ["atom", str(node)]
        below = [self._shape(child) for child in node.args]
        return [type(node).__name__, *(sorted(below) if isinstance(node, _COMMUTATIVE) else below)]


def _digest(parts: Iterable[str]) -> str:
    return hashlib.blake2b(
        "\0".join(parts).encode(errors="backslashreplace"), digest_size=8
    ).hexdigest()

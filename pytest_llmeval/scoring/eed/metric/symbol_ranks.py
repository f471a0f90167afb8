"""Ranks of symbols by their positions, so that their names do not influence a distance.

Symbols are distinguished by colour refinement (Weisfeiler and Leman 1968): first in the target
alone, so that its symbols have the same order for every answer, then in both formulas. Symbols with
equivalent positions are interchangeable: the one that is first by name is chosen, and refinement
goes on. So in (a + b)(c + d)/(a - c) it does not matter whether a or c comes first, but b and d
follow in the same order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from math import prod

from pytest_llmeval.scoring.eed.metric.heads import COMMUTATIVE, parity
from pytest_llmeval.scoring.eed.metric.signature import UNITS, Colours, Signatures, mixed
from pytest_llmeval.scoring.eed.metric.tree import Node

_ROUNDS = 16  # of refinement; real formulas take one or two
_CHOICES = 16  # among interchangeable symbols; others have the order of their names
_IN_TARGET, _NOT_IN_TARGET = 1, 2  # the first colours
_CHOSEN = 3  # mixed into a colour
_CACHED = 256


def symbol_ranks(target: Node, answer: Node) -> dict[str, int]:
    """Return the rank of each symbol of two formulas, the target's symbols first."""
    in_target = _target_colours(target)
    others = dict.fromkeys(_symbols(answer) - in_target.keys(), _NOT_IN_TARGET)
    colours = _refined({**in_target, **others}, (target, answer))
    keys: dict[str, tuple[int, ...]] = {
        name: (name in others, in_target.get(name, 0), colour) for name, colour in colours.items()
    }
    for _ in range(_CHOICES):
        counts = Counter(keys.values())
        if len(counts) == len(keys):
            break
        chosen = min((key, name) for name, key in keys.items() if counts[key] > 1)[1]
        marked = {**colours, chosen: mixed(colours[chosen], _CHOSEN)}
        colours = _refined(marked, (target, answer))
        keys = {name: (*key, name != chosen, colours[name]) for name, key in keys.items()}
    ordered = sorted(keys, key=lambda name: (keys[name], name))
    return {name: rank for rank, name in enumerate(ordered)}


@lru_cache(maxsize=_CACHED)
def _target_colours(target: Node) -> Colours:
    return _refined(dict.fromkeys(_symbols(target), _IN_TARGET), (target,))


def _symbols(formula: Node) -> set[str]:
    return {node.text for node in formula.walk() if node.kind == "symbol"}


def _refined(colours: Colours, formulas: tuple[Node, ...]) -> Colours:
    """Refine the colours by the symbols' positions, until all differ or nothing changes."""
    distinct = len(set(colours.values()))
    for _ in range(_ROUNDS):
        if distinct == len(colours):
            break
        places = [_positions(formula, colours) for formula in formulas]
        colours = {
            name: mixed(colour, *[of.get(name, 0) for of in places])
            for name, colour in colours.items()
        }
        before, distinct = distinct, len(set(colours.values()))
        if distinct == before:
            break
    return colours


def _positions(formula: Node, colours: Colours) -> Mapping[str, int]:
    """Return a number for the positions of each symbol in a formula."""
    positions = _Positions(colours)
    positions.add(formula, 0, 1, 1)
    return positions.of


class _Positions:
    """The positions of each symbol, as a sum of numbers in `of`.

    A position consists of the nodes above; of the place among the children where their order
    counts; and of the sign, as far as it does not depend on how the formula is written.
    """

    def __init__(self, colours: Colours) -> None:
        self.of: dict[str, int] = {}
        self._signatures = Signatures(colours)

    def add(self, node: Node, above: int, place: int, sign: int) -> None:
        """Add the positions in a subtree.

        Args:
            node: the subtree.
            above: the number of the nodes above.
            place: its number among the children whose order counts.
            sign: that of the factors beside it; 0 if unknown.
        """
        value = self._signatures.of(node)
        self._add(node, mixed(above, place, value.sign + 1), sign)

    def _add(self, node: Node, above: int, sign: int) -> None:
        kind, text, below = node
        if kind == "symbol":
            self.of[text] = self.of.get(text, 0) + above
        if not below:
            return
        value = self._signatures.of(node)
        here = mixed(above, value.size)
        if kind == "operator" and text == "Mul":
            self._add_factors(below, above, here, sign)
        elif kind == "operator" and text == "Add":
            for child in below:
                own = self._signatures.of(child).sign * (value.sign or sign)
                self._add(child, mixed(here, own + 1), sign)
        elif (odd := parity(node)) >= 0:
            self._add(below[0], here, sign * odd)
        else:
            ordered = node.label not in COMMUTATIVE
            for place, child in enumerate(below):
                self.add(child, here, place * ordered, 1)

    def _add_factors(self, below: tuple[Node, ...], above: int, here: int, sign: int) -> None:
        signs = [self._signatures.of(child).sign for child in below]
        if sum(factor.text not in UNITS for factor in below) == 1:
            here = above  # -x stands where x would stand
        for place, child in enumerate(below):
            self._add(child, here, sign * prod(signs[:place] + signs[place + 1 :]))

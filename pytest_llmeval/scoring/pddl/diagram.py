"""Binary decision diagrams: each set of states of the world has exactly one node."""

from __future__ import annotations

from functools import reduce
from typing import Final, TypeAlias

MOST_STEPS: Final = 100_000
"""Nodes and pairs of nodes that one comparison may look at, some tenths of a second."""

Edge: TypeAlias = int
"""Twice the number of a node, and 1 more where its complement is meant."""

Term: TypeAlias = tuple[tuple[int, bool], ...]
"""Atoms, by their places in the order, that hold or do not."""

Cover: TypeAlias = tuple[Edge, list[Term]]
"""A set, and terms that together describe it."""

TRUE: Final[Edge] = 0
FALSE: Final[Edge] = 1


class TooCostlyError(ValueError):
    """Goals that are made to be large: too many facts, or too many steps to compare."""


class Diagram:
    """Ordered, reduced decision diagrams with complement edges, in one table of nodes.

    A node asks whether the atom of its level holds. Equal sets of states are one edge, so that
    equality is ``==``, and ``edge ^ 1`` is the complement. Parts have lower numbers than the nodes
    above them. Recursion goes as deep as there are atoms.

    Source: Bryant 1986; Brace, Rudell and Bryant 1990.
    """

    def __init__(self, atoms: int) -> None:
        """Create the table for atoms 0, 1, ... `atoms` - 1, which are asked in this order."""
        # The first node is the leaf, below all atoms.
        self._nodes: list[tuple[int, Edge, Edge]] = [(atoms, TRUE, TRUE)]
        self._numbers: dict[tuple[int, Edge, Edge], int] = {}
        self._both: dict[tuple[Edge, Edge], Edge] = {}
        self._covers: dict[tuple[Edge, Edge], Cover] = {}
        self._steps = 0

    def atom(self, level: int) -> Edge:
        """Return the states in which an atom holds."""
        return self._node(level, FALSE, TRUE)

    def both(self, one: Edge, other: Edge) -> Edge:
        """Return the states in both sets."""
        if other in (one, TRUE):
            return one
        if one == TRUE:
            return other
        if FALSE in (one, other) or one == other ^ 1:
            return FALSE
        pair = (one, other) if one < other else (other, one)
        if pair not in self._both:
            self.spend(1)
            level = min(map(self.level, pair))
            absent, present = zip(*(self.parts(edge, level) for edge in pair), strict=True)
            self._both[pair] = self._node(level, self.both(*absent), self.both(*present))
        return self._both[pair]

    def either(self, one: Edge, other: Edge) -> Edge:
        """Return the states in one set, or in both."""
        return self.both(one ^ 1, other ^ 1) ^ 1

    def all(self, edges: list[Edge]) -> Edge:
        """Return the states in all sets."""
        # From the last atoms up: each step then adds to the top of what is there.
        return reduce(self.both, sorted(edges, key=self.level, reverse=True), TRUE)

    def any(self, edges: list[Edge]) -> Edge:
        """Return the states in any of the sets."""
        return self.all([edge ^ 1 for edge in edges]) ^ 1

    def level(self, edge: Edge) -> int:
        """Return the first atom that counts; for TRUE and FALSE the number of atoms."""
        return self._nodes[edge >> 1][0]

    def parts(self, edge: Edge, level: int) -> tuple[Edge, Edge]:
        """Return the set where the atom of a level, not below the edge's, is absent and present."""
        own, absent, present = self._nodes[edge >> 1]
        if own != level:
            return edge, edge
        return absent ^ (edge & 1), present ^ (edge & 1)

    def support(self, edge: Edge) -> set[int]:
        """Return the atoms on which it depends whether a state is in the set."""
        found, waiting, seen = set(), [edge >> 1], {0}
        while waiting:
            number = waiting.pop()
            if number not in seen:
                seen.add(number)
                level, absent, present = self._nodes[number]
                found.add(level)
                waiting += [absent >> 1, present >> 1]
        return found

    def smallest(self, edge: Edge) -> list[int] | None:
        """Return the atoms of a state in the set in which the fewest hold; None if it is empty."""
        # Parts come before the nodes above them, so that one pass over the table is enough.
        fewest: list[float] = [0, float("inf")]
        for _, absent, present in self._nodes[1 : (edge >> 1) + 1]:
            for sign in (0, 1):
                fewest.append(min(fewest[absent ^ sign], fewest[present ^ sign] + 1))
        if fewest[edge] == float("inf"):
            return None
        held = []
        while edge != TRUE:
            level = self.level(edge)
            absent, present = self.parts(edge, level)
            if fewest[absent] < fewest[present] + 1:
                edge = absent
            else:
                edge = present
                held.append(level)
        return held

    def terms(self, edge: Edge) -> list[Term]:
        """Return terms of which none can be spared, in which together are the states of the set.

        They depend on the set and the order of the atoms alone. Source: Minato 1992, Morreale 1970.
        """
        return self._between(edge, edge)[1]

    def spend(self, steps: int) -> None:
        """Count steps; TooCostlyError beyond MOST_STEPS."""
        self._steps += steps
        if self._steps > MOST_STEPS:
            msg = f"it takes more than {MOST_STEPS:,} steps"
            raise TooCostlyError(msg)

    def _between(self, least: Edge, most: Edge) -> Cover:
        """Return a set between two others that takes few terms."""
        if least == FALSE:
            return FALSE, []
        if most == TRUE:
            return TRUE, [()]
        if (least, most) not in self._covers:
            self._covers[least, most] = self._cover(least, most)
        return self._covers[least, most]

    def _cover(self, least: Edge, most: Edge) -> Cover:
        """Return such a set by its first atom: terms that deny it, that demand it, and others."""
        level = min(self.level(least), self.level(most))
        least_absent, least_present = self.parts(least, level)
        most_absent, most_present = self.parts(most, level)
        absent, without = self._between(self.both(least_absent, most_present ^ 1), most_absent)
        present, having = self._between(self.both(least_present, most_absent ^ 1), most_present)
        rest = self.either(
            self.both(least_absent, absent ^ 1), self.both(least_present, present ^ 1)
        )
        free, others = self._between(rest, self.both(most_absent, most_present))
        terms = [((level, True), *term) for term in having]
        terms += [((level, False), *term) for term in without]
        self.spend(sum(map(len, terms)) + len(others) + 1)
        found = self._node(level, self.either(absent, free), self.either(present, free))
        return found, terms + others

    def _node(self, level: int, absent: Edge, present: Edge) -> Edge:
        """Return the one edge for a question; the part where the atom holds is no complement."""
        if absent == present:
            return absent
        sign = present & 1
        key = (level, absent ^ sign, present ^ sign)
        if key not in self._numbers:
            self.spend(1)
            self._numbers[key] = len(self._nodes)
            self._nodes.append(key)
        return 2 * self._numbers[key] ^ sign

"""Equality of goals by logic: two are equal when the same states of the world fulfil them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pytest_llmeval.scoring.pddl.diagram import FALSE, TRUE, Diagram, Edge, Term, TooCostlyError
from pytest_llmeval.scoring.pddl.goals import (
    And,
    Atom,
    Constant,
    Fact,
    Goal,
    Not,
    Or,
    Variable,
    atoms,
)
from pytest_llmeval.scoring.pddl.parser import parse_pddl

PDDL_GRADER = "pddl/1"
"""Version of these rules; scores by different versions are not compared."""

MOST_FACTS = 300
"""Different facts and variables of one goal."""

_PARTS = re.compile(r"([0-9]{1,18})")


def pddl_equals(answer: str | Goal, solution: str | Goal, *, case_sensitive: bool = True) -> bool:
    """Return whether an answer is logically equivalent to the solution.

    Facts and variables are atoms that hold or do not, each independent of the others. Keywords are
    known in any case.

    Args:
        answer: PDDL text, or a parsed goal.
        solution: likewise.
        case_sensitive: whether predicates and symbols of different case differ.

    Raises:
        PddlSyntaxError: a text is no goal.
        TooCostlyError: a goal has more than `MOST_FACTS` different facts, or the two are made to
            take exponential time.

    Example:
        >>> pddl_equals("(not (or (a) (b)))", "(and (not (b)) (not (a)))")
        True
    """
    comparison = Comparison([parsed(solution), parsed(answer)], case_sensitive=case_sensitive)
    wanted, given = comparison.edges
    return wanted == given


def canonical_pddl(goal: str | Goal) -> str:
    """Return the text that all goals equal to this one have: a disjunction of conjunctions.

    None of its conjunctions can be spared, and facts stand in the order of their symbols.

    Raises:
        PddlSyntaxError: the text is no goal.
        TooCostlyError: as `pddl_equals`; also a small goal can have a large disjunctive form.

    Example:
        >>> canonical_pddl("(or (b) (and (a) (b)) (a))")
        '(or (a) (b))'
    """
    given = parsed(goal)
    # O1 and O01 have the same key, so their texts decide.
    order = sorted(sorted(set(atoms(given)), key=str), key=_by_symbols)
    comparison = Comparison([*order, given])
    terms = sorted(comparison.diagram.terms(comparison.edges[-1]))
    return str(_joined(Or, (_conjunction(order, term) for term in terms)))


def parsed(text: str | Goal) -> Goal:
    """Return the goal of a text; a goal is returned as it is."""
    return parse_pddl(text) if isinstance(text, str) else text


class Comparison:
    """Goals as sets of states of the world, in one decision diagram.

    Attributes:
        atoms: the facts and variables by level, in the order of their first occurrence.
        diagram: the diagram.
        edges: the states that fulfil each of the goals.
    """

    def __init__(self, goals: list[Goal], *, case_sensitive: bool = True) -> None:
        """Read the goals; raise TooCostlyError when they are too large."""
        self._case_sensitive = case_sensitive
        found: dict[Atom, Atom] = {}
        for goal in goals:
            own = {self._known(atom): atom for atom in atoms(goal)}
            if len(own) > MOST_FACTS:
                msg = f"{len(own):,} different facts, more than {MOST_FACTS}"
                raise TooCostlyError(msg)
            found |= own
        self.atoms = tuple(found.values())
        self._levels = {atom: level for level, atom in enumerate(found)}
        self.diagram = Diagram(len(found))
        self.edges = [self._edge(goal) for goal in goals]

    def _known(self, atom: Atom) -> Atom:
        """Return the atom that all equal ones share."""
        if self._case_sensitive:
            return atom
        if isinstance(atom, Variable):
            return Variable(atom.name.casefold())
        return Fact(atom.predicate.casefold(), tuple(one.casefold() for one in atom.symbols))

    def _edge(self, goal: Goal) -> Edge:
        match goal:
            case Constant():
                return TRUE if goal.value else FALSE
            case Not():
                return self._edge(goal.goal) ^ 1
            case And():
                return self.diagram.all([self._edge(part) for part in goal.goals])
            case Or():
                return self.diagram.any([self._edge(part) for part in goal.goals])
            case _:
                return self.diagram.atom(self._levels[self._known(goal)])


def _by_symbols(atom: Atom) -> list[list[tuple[int, str]]]:
    """Return a key by which facts about one symbol stand together, and O2 before O10.

    Goals join facts about one symbol more often than facts of one predicate, and what is joined
    should be close together in a decision diagram.
    """
    words = (*atom.symbols, atom.predicate) if isinstance(atom, Fact) else ("", atom.name)
    return [_natural(word) for word in words]


def _natural(word: str) -> list[tuple[int, str]]:
    return [
        (int(part), "") if _PARTS.fullmatch(part) else (-1, part) for part in _PARTS.split(word)
    ]


def _conjunction(order: list[Atom], term: Term) -> Goal:
    return _joined(And, (order[level] if held else Not(order[level]) for level, held in term))


def _joined(kind: type[And | Or], goals: Iterable[Goal]) -> Goal:
    """Return the conjunction or disjunction; without parts a constant, of one part that part."""
    parts = tuple(goals)
    if not parts:
        return Constant(value=kind is And)
    return parts[0] if len(parts) == 1 else kind(parts)

"""The predicates of a domain: which there are, and how many symbols each takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_llmeval.scoring.listed import short
from pytest_llmeval.scoring.pddl.goals import Fact, Goal, atoms


def predicate_problem(
    goal: Goal, predicates: Mapping[str, Sequence[str]], *, case_sensitive: bool
) -> str | None:
    """Return what is wrong with the first fact that the domain does not have; None if all are.

    Args:
        goal: the goal.
        predicates: names to the kinds of their symbols, in words, as in ``{in-room: [room]}``.
        case_sensitive: whether names of different case differ.
    """
    known = (
        predicates if case_sensitive else {name.casefold(): predicates[name] for name in predicates}
    )
    for fact in atoms(goal):
        if not isinstance(fact, Fact):
            continue
        name = fact.predicate if case_sensitive else fact.predicate.casefold()
        if name not in known:
            there = ", ".join(predicates)
            return f"there is no predicate {short(fact.predicate)}, only {there}"
        if len(fact.symbols) != len(known[name]):
            form = " ".join((name, *(f"?{kind}" for kind in known[name])))
            return f"{short(str(fact))} does not have the form ({form})"
    return None

"""What tells a goal from the solution, in a few lines of text."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_llmeval.scoring.listed import changes, listed
from pytest_llmeval.scoring.pddl.diagram import FALSE, TRUE, Edge
from pytest_llmeval.scoring.pddl.equality import Comparison, parsed
from pytest_llmeval.scoring.pddl.goals import Goal


def pddl_diff(
    answer: str | Goal, solution: str | Goal, *, case_sensitive: bool = True
) -> tuple[str, ...]:
    """Return the differences between an answer and the solution; empty when they are equal.

    The facts that count in one of them only, then a state of the world that fulfils the answer
    alone, and one that fulfils the solution alone, each with as few facts as possible. Arguments
    and errors are those of `pddl_equals`.

    Example:
        >>> for line in pddl_diff("(safe O1)", "(or (safe O1) (safe O2))"):
        ...     print(line)
        missing (safe O2)
        when only (safe O2) holds: the solution is fulfilled, the answer is not
    """
    comparison = Comparison([parsed(solution), parsed(answer)], case_sensitive=case_sensitive)
    wanted, given = comparison.edges
    if wanted == given:
        return ()
    return (*_constant(wanted, given), *_facts(comparison), *_states(comparison))


def _constant(wanted: Edge, given: Edge) -> Iterator[str]:
    """Say that one of the goals does not depend on the world."""
    for name, edge in (("answer", given), ("solution", wanted)):
        if edge in (TRUE, FALSE):
            yield f"the {name} is {'always' if edge == TRUE else 'never'} fulfilled"


def _facts(comparison: Comparison) -> Iterator[str]:
    """Name the facts that count in one of the goals only."""
    wanted, given = map(comparison.diagram.support, comparison.edges)
    missing, unexpected = (
        [comparison.atoms[level] for level in sorted(levels)]
        for levels in (wanted - given, given - wanted)
    )
    if missing or unexpected:
        yield changes(missing, unexpected)


def _states(comparison: Comparison) -> Iterator[str]:
    """Name a state of the world that fulfils the answer alone, and one for the solution."""
    wanted, given = comparison.edges
    diagram = comparison.diagram
    for one, other, alone in (
        ("answer", "solution", diagram.both(given, wanted ^ 1)),
        ("solution", "answer", diagram.both(wanted, given ^ 1)),
    ):
        held = diagram.smallest(alone)
        if held is not None:
            told = listed([comparison.atoms[level] for level in held])
            verb = "holds" if len(held) == 1 else "hold"
            state = f"only {told} {verb}" if held else "no fact holds"
            yield f"when {state}: the {one} is fulfilled, the {other} is not"

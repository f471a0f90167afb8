"""Parsing goals: what they are, and the limit of brackets inside each other."""

from __future__ import annotations

from typing import Any

import pytest
from scoring.corpora import language_cases

from pytest_llmeval.scoring.pddl import (
    DEEPEST,
    And,
    Constant,
    Fact,
    Not,
    Or,
    PddlSyntaxError,
    Variable,
    atoms,
    parse_pddl,
)


@pytest.mark.parametrize("goal_case", language_cases("pddl", "goals"))
def test_a_text_is_the_goal_that_is_written_so(goal_case: dict[str, Any]) -> None:
    goal = parse_pddl(goal_case["text"])
    assert str(goal) == goal_case["goal"]
    assert parse_pddl(str(goal)) == goal


def test_a_goal_is_the_tree_of_its_brackets() -> None:
    goal = parse_pddl("(and (in O1 P2) (or ?fed True) (not (a)))")
    assert goal == And(
        (
            Fact("in", ("O1", "P2")),
            Or((Variable("fed"), Constant(value=True))),
            Not(Fact("a")),
        )
    )
    assert [str(atom) for atom in atoms(goal)] == ["(in O1 P2)", "?fed", "(a)"]


def test_brackets_are_nested_as_deep_as_allowed_and_no_deeper() -> None:
    def nested(brackets: int) -> str:
        return "(not " * (brackets - 1) + "(a)" + ")" * (brackets - 1)

    assert str(parse_pddl(nested(DEEPEST))) == nested(DEEPEST)
    with pytest.raises(PddlSyntaxError, match="at most 100 brackets inside each other"):
        parse_pddl(nested(DEEPEST + 1))

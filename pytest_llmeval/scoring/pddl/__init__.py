"""PDDL goals: facts joined by and, or, not; their parser and equality by logic."""

from pytest_llmeval.scoring.pddl.diagram import TooCostlyError
from pytest_llmeval.scoring.pddl.difference import pddl_diff
from pytest_llmeval.scoring.pddl.equality import (
    MOST_FACTS,
    PDDL_GRADER,
    canonical_pddl,
    pddl_equals,
)
from pytest_llmeval.scoring.pddl.goals import And, Constant, Fact, Goal, Not, Or, Variable, atoms
from pytest_llmeval.scoring.pddl.parser import DEEPEST, LONGEST_GOAL, parse_pddl
from pytest_llmeval.scoring.pddl.syntax_error import PddlSyntaxError

__all__ = [
    "DEEPEST",
    "LONGEST_GOAL",
    "MOST_FACTS",
    "PDDL_GRADER",
    "And",
    "Constant",
    "Fact",
    "Goal",
    "Not",
    "Or",
    "PddlSyntaxError",
    "TooCostlyError",
    "Variable",
    "atoms",
    "canonical_pddl",
    "parse_pddl",
    "pddl_diff",
    "pddl_equals",
]

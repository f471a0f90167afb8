"""Whether two goals are equivalent, the differences between them, and the canonical text."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from scoring.corpora import language_cases

from pytest_llmeval.scoring.pddl import (
    Fact,
    PddlSyntaxError,
    canonical_pddl,
    parse_pddl,
    pddl_diff,
    pddl_equals,
)

FOREIGN = Path(__file__).with_name("foreign_goals.jsonl")
"""100 pairs by a reader who had not seen the code: equal, different, or the second one invalid."""

PAIRS = pytest.mark.parametrize("goal_pair", language_cases("pddl", "pairs"))


def options(case: dict[str, Any]) -> dict[str, Any]:
    return {name: case[name] for name in ("case_sensitive",) if name in case}


@PAIRS
def test_two_goals_are_equal_as_logic_says(goal_pair: dict[str, Any]) -> None:
    for one, other in [("a", "b"), ("b", "a")]:
        equal = pddl_equals(goal_pair[one], goal_pair[other], **options(goal_pair))
        assert equal is goal_pair["equal"]
        lines = pddl_diff(goal_pair[one], goal_pair[other], **options(goal_pair))
        assert (lines == ()) is goal_pair["equal"]


@PAIRS
def test_equal_goals_and_no_others_have_one_canonical_text(goal_pair: dict[str, Any]) -> None:
    if not options(goal_pair):
        texts = {canonical_pddl(goal_pair["a"]), canonical_pddl(goal_pair["b"])}
        assert (len(texts) == 1) is goal_pair["equal"]


@pytest.mark.parametrize("goal_case", language_cases("pddl", "goals"))
def test_the_canonical_text_is_a_disjunction_of_conjunctions(goal_case: dict[str, Any]) -> None:
    assert canonical_pddl(goal_case["text"]) == goal_case["canonical"]


@pytest.mark.parametrize("goals_apart", language_cases("pddl", "differences"))
def test_a_difference_names_facts_and_states_of_the_world(goals_apart: dict[str, Any]) -> None:
    assert list(pddl_diff(goals_apart["a"], goals_apart["b"])) == goals_apart["lines"]


def test_parsed_goals_serve_as_well_as_texts() -> None:
    assert pddl_equals(parse_pddl("(and (a) (b))"), "(and (b) (a))")


@pytest.mark.parametrize(("answer", "solution"), [("(a", "(a)"), ("(a)", "a")])
def test_a_text_that_is_no_goal_is_an_error_and_not_unequal(answer: str, solution: str) -> None:
    with pytest.raises(PddlSyntaxError):
        pddl_equals(answer, solution)


def test_importing_the_language_does_not_load_its_parser_generator() -> None:
    code = "import sys, pytest_llmeval.scoring.pddl; sys.exit('lark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_pairs_by_a_reader_who_had_not_seen_the_code_are_told_apart() -> None:
    for case in map(json.loads, FOREIGN.read_text("utf-8").splitlines()):
        try:
            found = "equal" if pddl_equals(case["a"], case["b"]) else "different"
        except PddlSyntaxError:
            found = "invalid"
        assert found == case["verdict"], case


def test_a_goal_made_in_python_may_hold_signs_that_are_digits_elsewhere() -> None:
    assert canonical_pddl(Fact("near", ("O²",))) == "(near O²)"

"""The six public goals, where the reference material is at hand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_llmeval.scoring.pddl import And, Goal, Not, Or, parse_pddl, pddl_equals
from pytest_llmeval.scoring.pddl.scorer import PddlScorer


@pytest.fixture(scope="module")
def solutions(shared: Path) -> dict[str, str]:
    """Return the solutions by their questions' ids."""
    page = (shared / "reference" / "heracles.md").read_text("utf-8")
    section = page.split("## Goals in PDDL")[1].split("\n## ")[0]
    return dict(re.findall(r"(?:^- | · )(\d+[AB]) [^`]*`(\(.*?\))`", section, re.MULTILINE))


def mirrored(goal: Goal) -> Goal:
    """Return an equivalent goal in which every part is written another way."""
    match goal:
        case And():
            return Not(Or(tuple(Not(mirrored(part)) for part in reversed(goal.goals))))
        case Or():
            return Not(And(tuple(Not(mirrored(part)) for part in reversed(goal.goals))))
        case Not():
            return Not(mirrored(goal.goal))
        case _:
            return Not(Not(goal))


def test_the_six_public_solutions_are_goals_of_the_tasks_domain(
    solutions: dict[str, str],
) -> None:
    assert list(solutions) == ["0A", "22A", "31B", "32A", "34B", "49B"]
    for text in solutions.values():
        assert str(parse_pddl(text)) == text
        PddlScorer().check(text)


def test_each_equals_itself_in_other_words_and_none_of_the_others(
    solutions: dict[str, str],
) -> None:
    for one, text in solutions.items():
        other_words = mirrored(parse_pddl(text))
        equal = [uid for uid, other in solutions.items() if pddl_equals(other_words, other)]
        assert equal == [one]


def test_one_room_left_out_or_too_many_is_another_goal(solutions: dict[str, str]) -> None:
    for uid in ("31B", "34B", "49B"):
        facts = re.findall(r"\([\w-]+ \w+\)", solutions[uid])
        assert len(facts) > 1
        for fact in facts:
            assert not pddl_equals(
                solutions[uid].replace(fact, "", 1).replace("(not )", ""), solutions[uid]
            )
            assert not pddl_equals(f"(and {solutions[uid]} (holding O1000))", solutions[uid])

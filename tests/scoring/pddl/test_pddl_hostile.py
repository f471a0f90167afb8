"""Hostile goals end in a goal, a syntax error or `TooCostlyError`, within a count of steps.

No limit on time is set here: without the limits, these would take hours or fill the memory.
"""

from __future__ import annotations

import random
import sys

import pytest

from pytest_llmeval.records import Sample
from pytest_llmeval.scoring.pddl import (
    LONGEST_GOAL,
    MOST_FACTS,
    PddlSyntaxError,
    TooCostlyError,
    canonical_pddl,
    diagram,
    parse_pddl,
    pddl_diff,
    pddl_equals,
)
from pytest_llmeval.scoring.pddl.scorer import PddlScorer

MEGABYTE = 1_000_000


def joined(word: str, goals: list[str]) -> str:
    return f"({word} {' '.join(goals)})"


def facts(predicate: str, count: int = MOST_FACTS) -> list[str]:
    return [f"({predicate} O{number})" for number in range(count)]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("(" * MEGABYTE, id="brackets"),
        pytest.param("(not " * (MEGABYTE // 5), id="nots"),
        pytest.param("(and " * (MEGABYTE // 5), id="ands"),
        pytest.param("(" + "a" * MEGABYTE, id="a-long-name"),
        pytest.param("(a" + "-" * MEGABYTE + "é)", id="a-name-that-ends-wrongly"),
        pytest.param("(and" + " " * MEGABYTE, id="blanks"),
        pytest.param("?" * MEGABYTE, id="question-marks"),
        pytest.param("(a) " * (MEGABYTE // 4), id="many-goals"),
        pytest.param("\0" * MEGABYTE, id="nul"),
        pytest.param("\n" * MEGABYTE + ")", id="lines"),
        pytest.param("(a \ud800)", id="lone-surrogate"),
    ],
)
def test_a_megabyte_of_nonsense_is_a_syntax_error_with_a_short_message(text: str) -> None:
    with pytest.raises(PddlSyntaxError) as caught:
        parse_pddl(text)
    assert len(str(caught.value)) < 500
    assert str(caught.value).isprintable()


def crossed(count: int) -> str:
    """Return pairs of facts whose diagram is exponential, because all first facts come first."""
    pairs = [
        joined("and", list(pair)) for pair in zip(facts("a", count), facts("b", count), strict=True)
    ]
    return joined("or", [joined("and", facts("a", count)), *pairs])


def satisfiable_or_not(variables: int, clauses: int) -> str:
    """Return random clauses of three, of which nobody knows whether they can be fulfilled."""
    noise = random.Random(7)
    literals = [[fact, f"(not {fact})"] for fact in facts("a", variables)]
    return joined(
        "and",
        [
            joined("or", [noise.choice(noise.choice(literals)) for _ in range(3)])
            for _ in range(clauses)
        ],
    )


@pytest.mark.parametrize(
    "text", [crossed(MOST_FACTS // 2), satisfiable_or_not(100, 430)], ids=["order", "clauses"]
)
def test_what_cannot_be_decided_cheaply_is_said_to_be_too_costly(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(diagram, "MOST_STEPS", 20_000)
    for compare in (pddl_equals, pddl_diff):
        with pytest.raises(TooCostlyError, match="20,000 steps"):
            compare(text, "(a O1)")
    score = PddlScorer().score(text, Sample(id="1", input="", target="(a O1)"))
    assert (score.correct, score.details["valid_goal"]) == (False, True)
    assert score.explanation.startswith("too expensive to compare")
    assert not PddlScorer().same(text, "(a O1)", "")


def test_a_goal_whose_disjunctive_form_is_exponential_is_still_compared() -> None:
    pairs = zip(facts("a", 150), facts("b", 150), strict=True)
    both = [joined("or", list(pair)) for pair in pairs]
    turned = [
        joined("or", list(pair)) for pair in zip(facts("b", 150), facts("a", 150), strict=True)
    ]
    assert pddl_equals(joined("and", both), joined("and", turned[::-1]))
    assert len(pddl_diff(joined("and", both[1:]), joined("and", turned))) == 2
    with pytest.raises(TooCostlyError):
        canonical_pddl(joined("and", both))


@pytest.mark.parametrize("word", ["and", "or"])
def test_as_many_facts_as_allowed_are_compared_in_any_order_at_any_depth_of_the_stack(
    word: str,
) -> None:
    text, turned = joined(word, facts("a")), joined(word, facts("a")[::-1])
    others = joined(word, facts("b"))

    def below(frames: int) -> None:
        if frames:
            return below(frames - 1)
        assert pddl_equals(text, turned)
        assert canonical_pddl(turned) == text
        assert len(pddl_diff(others, text)) == 3
        return None

    below(sys.getrecursionlimit() // 5)
    with pytest.raises(TooCostlyError, match="301 different facts, more than 300"):
        pddl_equals(text, joined(word, facts("a", MOST_FACTS + 1)))


def test_a_repeated_fact_costs_nothing() -> None:
    text = joined("and", ["(holding O1)"] * (LONGEST_GOAL // 14))
    assert pddl_equals(text, "(holding O1)")


def test_a_longer_answer_is_incorrect_without_being_parsed() -> None:
    score = PddlScorer().score("(" * (LONGEST_GOAL + 1), Sample(id="1", input="", target="(a)"))
    assert (score.correct, score.details["valid_goal"]) == (False, False)
    assert "100,001 characters, more than 100,000" in score.explanation


def test_long_names_are_cut_in_what_is_said() -> None:
    lines = pddl_diff(f"(a {'x' * 50_000})", f"(a {'y' * 50_000})")
    assert all(len(line) < 300 for line in lines)

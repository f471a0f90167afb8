"""The scorer `pddl` and its assertion."""

from __future__ import annotations

import pytest

from pytest_llmeval import Sample, ScorerError, assert_pddl_equal
from pytest_llmeval.scoring.grader import grader_text
from pytest_llmeval.scoring.pddl import MOST_FACTS
from pytest_llmeval.scoring.pddl.scorer import PddlScorer

DOMAIN = {"visited-room": ["room"], "object-in-place": ["object", "place"], "handempty": []}
SAMPLE = Sample(id="1", input="Tidy up.", target="(and (visited-room R1) (object-in-place O1 P2))")


@pytest.mark.parametrize(
    ("answer", "correct", "valid", "told"),
    [
        ("(and (object-in-place O1 P2) (visited-room R1))", True, True, ""),
        ("(visited-room R1)", False, True, "missing (object-in-place O1 P2)"),
        ("visited-room R1", False, False, "the answer is no goal: line 1, column 1"),
        (None, False, False, "no answer in the demanded form"),
        (
            "(and (visited-room R1) (holding O1))",
            False,
            False,
            "there is no predicate holding, only visited-room, object-in-place, handempty",
        ),
        (
            "(object-in-place O1)",
            False,
            False,
            "(object-in-place O1) does not have the form (object-in-place ?object ?place)",
        ),
        ("(handempty O1)", False, False, "does not have the form (handempty)"),
        ("(Visited-Room R1)", False, False, "there is no predicate Visited-Room"),
        (
            "(and (visited-room r1) (object-in-place O1 P2))",
            False,
            True,
            "missing (visited-room R1)",
        ),
        ("(or ?x (visited-room R1))", False, True, "unexpected ?x"),
    ],
)
def test_a_goal_of_the_domain_is_valid_and_correct_or_not(
    answer: str | None, *, correct: bool, valid: bool, told: str
) -> None:
    score = PddlScorer(predicates=DOMAIN).score(answer, SAMPLE)
    assert (score.correct, score.value, score.details) == (
        correct,
        float(correct),
        {"valid_goal": valid},
    )
    assert told in score.explanation
    assert bool(told) == bool(score.explanation)


def test_case_is_ignored_where_the_task_says_so() -> None:
    scorer = PddlScorer(predicates={"Visited-Room": ["room"]}, case_sensitive=False)
    sample = Sample(id="1", input="", target="(VISITED-ROOM R1)")
    assert scorer.score("(visited-room r1)", sample).correct
    assert scorer.same("(visited-room r1)", "(Visited-room R1)", sample.target_text)


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ("(visited-room R1", "line 1, column 17"),
        ("(holding O1)", "there is no predicate holding"),
        (
            f"(or {' '.join(f'(visited-room R{n})' for n in range(MOST_FACTS + 1))})",
            "301 different facts, more than 300",
        ),
    ],
)
def test_a_target_that_no_answer_can_equal_is_refused(target: str, told: str) -> None:
    with pytest.raises(ValueError, match="the target ") as refused:
        PddlScorer(predicates=DOMAIN).check(target)
    assert told in str(refused.value)


def test_any_predicates_are_valid_where_the_task_names_none() -> None:
    PddlScorer().check("(anything at all)")
    assert PddlScorer().score("(a)", Sample(id="1", input="", target="(and (a))")).correct


def test_the_column_is_called_valid_goal() -> None:
    assert PddlScorer().display.shares == ("valid_goal",)
    assert PddlScorer().display.headings == {"valid_goal": "valid goal"}


def test_the_grader_names_the_options() -> None:
    assert grader_text(PddlScorer()) == "pddl/1 predicates={} case_sensitive=true"
    assert grader_text(PddlScorer(predicates={"a": ["o"]})) != grader_text(PddlScorer())


def test_the_assertion_says_what_to_act_on() -> None:
    score = assert_pddl_equal("(or (b) (a))", "(or (a) (b))")
    assert (score.name, score.correct) == ("PDDL", True)
    with pytest.raises(AssertionError) as failed:
        assert_pddl_equal("(and (a) (b))", "(or (a) (b))")
    assert str(failed.value).splitlines() == [
        "PDDL: '(and (a) (b))' does not mean '(or (a) (b))'",
        "when only (a) holds: the solution is fulfilled, the answer is not",
    ]
    assert assert_pddl_equal("(A)", "(a)", case_sensitive=False).correct
    with pytest.raises(AssertionError, match="there is no predicate b, only a"):
        assert_pddl_equal("(b)", "(a)", predicates={"a": []})
    with pytest.raises(AssertionError, match="no answer"):
        assert_pddl_equal(None, "(a)")
    with pytest.raises(ScorerError, match="the solution is no goal"):
        assert_pddl_equal("(a)", "(a")

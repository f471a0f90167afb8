"""Which answers are one vote, as each scorer decides it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_llmeval.records import Sample
from pytest_llmeval.scoring.scorer import Scorer
from pytest_llmeval.scoring.votes import same_answer
from pytest_llmeval.task.declared import make_scorer
from pytest_llmeval.task.registry import SCORERS
from pytest_llmeval.task.spec import spec_of

CASES: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parent / "data/same_answers.yaml").read_text("utf-8")
)
ANSWERS = sorted({case[side] for case in CASES for side in ("one", "other")})
HOSTILE = ["", "9^{9^{9^9}}", "\\" * 1000, "(" * 5000, "<" * 5000, "\x00", "1" * 10_000]


def scorer_of(case: dict[str, Any]) -> Scorer:
    return make_scorer(spec_of(case["scorer"], SCORERS), Path())


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['one']} | {case['other']}"[:60])
def test_two_answers_are_one_vote_in_either_order(case: dict[str, Any]) -> None:
    same, target = same_answer(scorer_of(case)), case.get("target", "1")
    assert same(case["one"], case["other"], target) is case["same"]
    assert same(case["other"], case["one"], target) is case["same"]
    assert same(case["one"], case["one"], target)


@pytest.mark.parametrize("name", ["number", "choice", "sldp", "pddl", "exact"])
def test_the_equality_of_a_scorer_agrees_with_its_score(name: str) -> None:
    """An answer that is correct for a target is one vote with it, whatever the pair."""
    scorer = make_scorer(spec_of(name, SCORERS), Path())
    same = same_answer(scorer)
    for target in ANSWERS:
        try:
            scorer.check(target)
        except ValueError:
            continue
        sample = Sample(id="1", input="?", target=target)
        for answer in ANSWERS:
            correct = scorer.score(answer, sample, None).correct
            assert same(answer, target, target) >= bool(correct), (answer, target)


@pytest.mark.parametrize("name", ["number", "choice", "sldp", "pddl", "exact", "judge", "includes"])
def test_hostile_answers_are_told_apart_without_an_error(name: str) -> None:
    same = same_answer(make_scorer(spec_of(name, SCORERS), Path()))
    for one in HOSTILE:
        for other in HOSTILE:
            assert same(one, other, "1") or one != other


def test_each_pair_is_compared_once() -> None:
    asked: list[tuple[str, str]] = []

    class Counting:
        name, grader, scale = "counting", "counting/1", 1.0

        def check(self, target: str) -> None: ...

        def score(self, answer: str | None, sample: Sample, prepared: Any) -> Any: ...

        def same(self, one: str, other: str, target: str) -> bool:  # noqa: ARG002 - part of the port
            asked.append((one, other))
            return False

    same = same_answer(Counting())
    for _ in range(3):
        assert same("a", "a", "t")
        assert not same("a", "b", "t")
    assert asked == [("a", "b")]

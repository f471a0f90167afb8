"""Several judges of one answer: one that fails loses its vote, and nothing else."""

from __future__ import annotations

import asyncio
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scoring.judge.judges import Judges, failing, saying

from pytest_llmeval.errors import LLMEvalError, ModelLost, ProviderError, RunStopped, UsageError
from pytest_llmeval.records import Reply, Sample
from pytest_llmeval.scoring.judge import Judgement
from pytest_llmeval.scoring.judge.scorer import JudgeScorer
from pytest_llmeval.scoring.scorer import ScorerContext

SAMPLE = Sample(id="1", input="Find x.", target="5")
YES = saying('{"answer_correct": 1, "reason": "the same"}')
NO = saying('{"answer_correct": 0, "reason": "another"}')
MUTE = saying("It depends.")
OVERLOADED = failing(ProviderError("HTTP 503", status=503))
LOST = failing(ModelLost("another sample tells"))
REFUSED = failing(ProviderError("HTTP 401", reach="model", status=401))
UNOPENED = failing(UsageError("no key"))
FAILURES = {"overloaded": OVERLOADED, "lost": LOST, "refused": REFUSED, "unopened": UNOPENED}
DOES = {"yes": YES, "no": NO, "mute": MUTE, **FAILURES}
FAILS = FAILURES.keys()


def panel(*kinds: str) -> Judges:
    return Judges({f"{kind}{number}": DOES[kind] for number, kind in enumerate(kinds)})


def judged(judges: Judges, scorer: JudgeScorer | None = None) -> Judgement:
    context = cast("ScorerContext", judges)
    return asyncio.run((scorer or JudgeScorer()).judged(SAMPLE, "x = 5", context))


@given(st.lists(st.sampled_from([*DOES]), min_size=1, max_size=5))
def test_more_than_half_of_all_judges_decide_and_one_that_fails_is_for_neither_side(
    kinds: list[str],
) -> None:
    if set(kinds) <= FAILS:
        with pytest.raises(LLMEvalError):
            judged(panel(*kinds))
        return
    found = judged(panel(*kinds))
    wanted = {"yes": True, "no": False}
    decided = [wanted[kind] for kind in wanted if kinds.count(kind) * 2 > len(kinds)]
    assert ([found.verdict.correct] if found.verdict else []) == decided
    for kind, opinion in zip(kinds, found.opinions, strict=True):
        assert opinion.correct is wanted.get(kind)
        assert bool(opinion.failure) is (kind in FAILS)


def test_the_error_of_a_judge_stands_in_its_opinion() -> None:
    [_, _, third] = judged(panel("yes", "yes", "overloaded")).opinions
    assert (third.correct, third.failure, third.reason) == (None, "HTTP 503", "HTTP 503")


def test_where_all_judges_fail_the_first_error_is_raised() -> None:
    with pytest.raises(ModelLost):
        judged(panel("lost", "overloaded"))
    with pytest.raises(ProviderError):
        judged(panel("overloaded", "lost"))


@pytest.mark.parametrize(
    "error", [RunStopped("the budget is spent"), AttributeError("a mistake")], ids=str
)
def test_what_is_not_one_judges_failure_is_raised_whatever_the_others_say(
    error: Exception,
) -> None:
    judges = Judges({"a": OVERLOADED, "b": YES, "c": failing(error), "d": YES})
    with pytest.raises(type(error), match=str(error)):
        judged(judges)
    assert {one.model for one in judges.asked} == {"a", "b", "c", "d"}


def test_a_judge_that_fails_among_its_votes_gives_no_verdict_and_its_votes_stay() -> None:
    def tires(draw: int) -> Reply | str:
        return YES(draw) if draw == 0 else OVERLOADED(draw)

    judges = Judges({"a": tires, "b": YES, "c": YES})
    found = judged(judges, JudgeScorer(votes=3))
    assert [one.votes for one in found.opinions] == [(True,), (True, True), (True, True)]
    assert [one.correct for one in found.opinions] == [None, True, True]
    assert found.verdict is not None


def test_the_judges_are_those_of_the_scorers_role() -> None:
    judges = panel("yes")
    judged(judges)
    assert JudgeScorer().role == "judge"
    assert {one.role for one in judges.asked} == {"judge"}


def test_a_scorer_says_what_it_asks() -> None:
    assert JudgeScorer().question == "judge/1 prompt 00895f1b"

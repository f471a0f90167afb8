"""What a judge thinks is no verdict; a verdict that was cut says so and is not paid for again."""

from __future__ import annotations

import asyncio
from typing import cast

import pytest
from scoring.judge.judges import Judges, failing, saying

from pytest_llmeval.engine.reasoning import with_reasoning_apart
from pytest_llmeval.engine.reasoning_marks import PAIRS
from pytest_llmeval.errors import ProviderError
from pytest_llmeval.records import Reply, Sample, StopReason
from pytest_llmeval.scoring.judge import Ballot, Judgement
from pytest_llmeval.scoring.judge.scorer import JudgeScorer
from pytest_llmeval.scoring.scorer import ScorerContext

YES = '{"answer_correct": 1, "reason": "the same"}'
NO = '{"answer_correct": 0, "reason": "another"}'
MARKS = {
    **PAIRS,
    "harmony": (
        "<|channel|>analysis<|message|>",
        "<|end|><|start|>assistant<|channel|>final<|message|>",
    ),
    "without an opening mark": ("", "</think>"),
}
CUT: tuple[StopReason, ...] = ("length", "refusal", "filter")


def judged(*replies: Reply, votes: int = 1) -> tuple[Judgement, int]:
    """Return the judgement by replies in turn, as the engine hands them on, and their number."""
    judges = Judges({"a": saying(*map(with_reasoning_apart, replies))})
    sample = Sample(id="1", input="Find x.", target="5")
    context = cast("ScorerContext", judges)
    found = asyncio.run(JudgeScorer(votes=votes).judged(sample, "x = 5", context))
    return found, len(judges.asked)


@pytest.mark.parametrize("family", MARKS)
def test_the_verdict_behind_the_thoughts_counts_whatever_they_say(family: str) -> None:
    opens, closes = MARKS[family]
    for thought in ("let me see", YES, f"I will write\n{YES}\nor rather", f"```json\n{YES}\n```"):
        found, asked = judged(Reply(text=f"{opens}{thought}{closes}{NO}"))
        assert found.verdict is not None, thought
        assert (found.verdict.correct, asked) == (False, 1)


@pytest.mark.parametrize("family", [name for name in MARKS if MARKS[name][0]])
def test_a_verdict_that_is_only_thought_of_is_none_and_the_user_is_told_what_to_do(
    family: str,
) -> None:
    opens, closes = MARKS[family]
    for text in (f"{opens}{YES}{closes}", f"{opens}{YES}"):
        found, asked = judged(Reply(text=text))
        assert (found.verdict, asked) == (None, 1)
        assert "max_tokens=4096" in found.explanation


def test_thoughts_in_a_field_of_their_own_are_no_verdict_either() -> None:
    found, _ = judged(Reply(text="", reasoning=YES))
    assert found.verdict is None
    found, _ = judged(Reply(text=NO, reasoning=YES))
    assert found.verdict is not None
    assert found.verdict.correct is False


@pytest.mark.parametrize(
    ("stop_reason", "says"),
    [("length", "max_tokens=4096"), ("refusal", "refused"), ("filter", "filter")],
)
def test_a_reply_that_was_cut_says_so_and_is_not_asked_for_again(
    stop_reason: StopReason, says: str
) -> None:
    found, asked = judged(Reply(text=YES[:20], stop_reason=stop_reason))
    assert (found.verdict, asked) == (None, 1)
    assert says in found.explanation
    assert found.tally == {"correct": 0, "incorrect": 0, "lost": 1, "replies": 1}


@pytest.mark.parametrize("stop_reason", CUT)
def test_a_whole_verdict_counts_however_the_reply_ended(stop_reason: StopReason) -> None:
    found, asked = judged(Reply(text=f"{YES}\n\n\n", stop_reason=stop_reason))
    assert found.verdict is not None
    assert (found.verdict.correct, asked) == (True, 1)


def test_each_vote_is_asked_for_even_if_another_was_cut() -> None:
    cut = Reply(text="", stop_reason="length")
    found, asked = judged(cut, Reply(text=YES), Reply(text=YES), votes=3)
    assert found.verdict is not None
    assert (found.verdict.correct, asked) == (True, 3)
    found, asked = judged(Reply(text=YES), cut, votes=3)
    assert (found.verdict, asked) == (None, 3)
    assert "decide nothing: 1 correct, 0 incorrect, 2 lost of 3" in found.explanation
    assert "max_tokens=4096" in found.explanation


def test_an_unusable_reply_that_ended_by_itself_is_asked_for_again() -> None:
    found, asked = judged(Reply(text="It depends."))
    assert (found.verdict, asked) == (None, 4)
    found, asked = judged(Reply(text="It depends."), Reply(text="", stop_reason="length"))
    assert (found.verdict, asked) == (None, 2)
    assert "max_tokens" in found.explanation


def test_a_judge_that_was_cut_is_told_among_others_that_decide_nothing() -> None:
    judges = Judges(
        {
            "a": saying(Reply(text=YES)),
            "b": saying(Reply(text="", stop_reason="length")),
            "c": failing(ProviderError("HTTP 503")),
        }
    )
    context = cast("ScorerContext", judges)
    sample = Sample(id="1", input="Find x.", target="5")
    found = asyncio.run(JudgeScorer().judged(sample, "x", context))
    assert found.explanation.startswith(
        "the judges decide nothing: a correct, b no verdict, c no verdict (the judge's reply was"
    )


def test_a_ballot_tells_a_cut_reply_from_one_that_rambles() -> None:
    ballot = Ballot()
    ballot.record(0, Reply(text="Well,", stop_reason="length"))
    assert ballot.next_draw() is None

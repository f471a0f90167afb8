"""Votes decide, unusable replies are asked for again, and no request is made in vain."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmeval.records import Reply
from pytest_llmeval.scoring.judge import Ballot, VoteCount
from pytest_llmeval.scoring.judge.rubric import Rubric
from pytest_llmeval.scoring.judge.verdict_scale import VerdictScale

REPLIES = {
    "+": Reply(text='{"answer_correct": 1, "reason": "the same"}'),
    "-": Reply(text='{"answer_correct": 0, "reason": "another"}'),
    "?": Reply(text="It depends."),
}


def cast(ballot: Ballot, replies: str) -> Ballot:
    """Drive a ballot with replies given as signs; the last sign goes on for ever."""
    while (draw := ballot.next_draw()) is not None:
        ballot.record(draw, REPLIES[replies[min(draw, len(replies) - 1)]])
    return ballot


@pytest.mark.parametrize(
    ("votes", "replies", "result", "tally"),
    [
        # tally: correct, incorrect, lost, replies
        (1, "+", True, (1, 0, 0, 1)),
        (1, "-", False, (0, 1, 0, 1)),
        (1, "?+", True, (1, 0, 0, 2)),
        (1, "???-", False, (0, 1, 0, 4)),
        (1, "????+", None, (0, 0, 1, 4)),  # the fourth unusable reply loses the vote
        (3, "++", True, (2, 0, 0, 2)),  # decided before the third vote
        (3, "+-+", True, (2, 1, 0, 3)),
        (3, "-+-", False, (1, 2, 0, 3)),
        (3, "+?-??-", False, (1, 2, 0, 6)),  # retries are counted for each vote
        (3, "+????-", None, (1, 1, 1, 6)),  # a lost vote helps neither side
        (3, "????????", None, (0, 0, 2, 8)),  # after two lost votes no side can win
        (2, "+-", None, (1, 1, 0, 2)),
        (2, "++", True, (2, 0, 0, 2)),
        (4, "++--", None, (2, 2, 0, 4)),
        (5, "+-++", True, (3, 1, 0, 4)),
    ],
)
def test_more_than_half_of_the_votes_win(
    votes: int,
    replies: str,
    result: bool | None,  # noqa: FBT001 - an expectation from the table
    tally: tuple[int, int, int, int],
) -> None:
    ballot = cast(Ballot(votes=votes), replies)
    assert (ballot.result and ballot.result.correct) is result
    correct, incorrect, lost, asked = tally
    assert ballot.tally == VoteCount(correct=correct, incorrect=incorrect, lost=lost, replies=asked)


def test_the_winning_side_gives_the_reason() -> None:
    ballot = cast(Ballot(votes=3), "-++")
    assert ballot.explanation == "the same"


def test_an_unscored_ballot_says_why() -> None:
    assert "no usable verdict in 4 replies" in cast(Ballot(), "?").explanation
    assert "1 correct, 1 incorrect, 0 lost of 2" in cast(Ballot(votes=2), "+-").explanation


@pytest.mark.parametrize(
    ("reply", "shown"),
    [
        ('{"score": 4}', '{"score": 4}'),
        ("", "empty"),
        ("\x1b[31mI\n\n would\tsay\x00 no", "I would say no"),
        ("y" * 5000, "y" * 200 + "… (4,800 more characters)"),
    ],
)
def test_an_unscored_ballot_names_the_wanted_keys_and_shows_the_refused_reply(
    reply: str, shown: str
) -> None:
    scale = Rubric(wanted=(("truth", "?"), ("style", "?")), scale=VerdictScale())
    ballot = Ballot(scale=scale, retries=1)
    ballot.record(0, Reply(text="an earlier one"))
    ballot.record(1, Reply(text=reply))
    assert ballot.explanation == (
        "the judge gave no usable verdict in 2 replies (wanted: one JSON object with the keys "
        f"reason, truth, style and nothing else; the last reply: {shown})"
    )


def test_without_early_stop_all_votes_are_cast() -> None:
    ballot = cast(Ballot(votes=3, stop_early=False), "++-")
    assert ballot.decisions == (True, True, False)


def test_no_retries_means_one_reply_a_vote() -> None:
    assert cast(Ballot(votes=1, retries=0), "?+").tally.replies == 1


def test_asking_again_for_the_next_draw_changes_nothing() -> None:
    ballot = Ballot(votes=3)
    assert [ballot.next_draw(), ballot.next_draw()] == [0, 0]


@pytest.mark.parametrize("draw", [1, -1])
def test_a_reply_to_another_draw_is_refused(draw: int) -> None:
    with pytest.raises(ValueError, match=f"draw {draw} was recorded, but the next draw is 0"):
        Ballot().record(draw, REPLIES["+"])


def test_a_reply_after_the_end_is_refused() -> None:
    with pytest.raises(ValueError, match="the next draw is None"):
        cast(Ballot(), "+").record(1, REPLIES["+"])


@pytest.mark.parametrize(("votes", "retries"), [(0, 3), (-1, 3), (1, -1)])
def test_a_ballot_that_could_never_decide_is_refused(votes: int, retries: int) -> None:
    with pytest.raises(ValueError, match="votes >= 1 and retries >= 0"):
        Ballot(votes=votes, retries=retries)


def test_an_async_driver_is_as_short_as_a_sync_one() -> None:
    async def ask(draw: int) -> Reply:
        return REPLIES["?-+-"[draw]]

    async def drive() -> Ballot:
        ballot = Ballot(votes=3)
        while (draw := ballot.next_draw()) is not None:
            ballot.record(draw, await ask(draw))
        return ballot

    assert asyncio.run(drive()).decisions == (False, True, False)


@given(votes=st.integers(1, 7), retries=st.integers(0, 3), replies=st.text("+-?", min_size=1))
def test_every_ballot_ends_and_stopping_early_changes_no_result(
    votes: int, retries: int, replies: str
) -> None:
    early = cast(Ballot(votes=votes, retries=retries), replies)
    whole = cast(Ballot(votes=votes, retries=retries, stop_early=False), replies)
    assert early.tally.replies <= whole.tally.replies <= votes * (retries + 1)
    assert early.result == whole.result
    assert early.decisions == whole.decisions[: len(early.decisions)]

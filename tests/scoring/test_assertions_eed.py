"""What the assertion on formulas records and raises, in a test that runs under the plugin or in anybody's own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from pytest_llmeval import Score, assert_eed_at_least
from pytest_llmeval.scoring.assertions import RUNNING, Judge, UnscoredError

UNREADABLE = r"\nosuchcommand{x}"


@dataclass
class OwnTest:
    """A running test whose task says what `settings` say of the scorer."""

    settings: dict[str, Any] = field(default_factory=dict)
    scores: list[Score] = field(default_factory=list)
    problem: str = ""
    no_answer: str = "the reply was cut"

    @property
    def judge(self) -> Judge:
        raise NotImplementedError

    def setting(self, scorer: str, name: str) -> Any:
        return self.settings.get(f"{scorer}.{name}")

    def record(self, score: Score) -> None:
        self.scores.append(score)


@pytest.fixture
def running() -> Iterator[OwnTest]:
    test = OwnTest()
    token = RUNNING.set(test)
    yield test
    RUNNING.reset(token)


def test_an_unreadable_target_leaves_the_answer_unscored(running: OwnTest) -> None:
    with pytest.raises(
        UnscoredError, match=r"EED: unscored: the target cannot be read: unknown command"
    ):
        assert_eed_at_least("x", UNREADABLE)
    (score,) = running.scores
    assert (score.value, score.correct, score.details["reading"]) == (
        None,
        None,
        "unreadable target",
    )


def test_the_published_mode_counts_an_unreadable_target_against_the_answer(
    running: OwnTest,
) -> None:
    with pytest.raises(AssertionError, match=r"EED \(published\) 0\.00 of 100"):
        assert_eed_at_least("x", UNREADABLE, mode="published")
    (score,) = running.scores
    assert (score.value, score.correct) == (0, False)


@pytest.mark.parametrize(
    ("settings", "values"),
    [
        ({"eed.also": "published"}, {"EED": None, "EED published": 0}),
        ({"eed.mode": "published", "eed.also": "corrected"}, {"EED": 0, "EED corrected": None}),
    ],
)
def test_the_mode_that_decides_makes_the_outcome(
    running: OwnTest, settings: dict[str, Any], values: dict[str, float | None]
) -> None:
    running.settings = settings
    with pytest.raises(UnscoredError if values["EED"] is None else AssertionError):
        assert_eed_at_least("x", UNREADABLE)
    assert {score.name: score.value for score in running.scores} == values
    assert [score.decides for score in running.scores] == [True, False]


def test_no_answer_is_wrong_even_beside_an_unreadable_target(running: OwnTest) -> None:
    with pytest.raises(AssertionError, match="the reply was cut"):
        assert_eed_at_least(None, UNREADABLE)
    assert running.scores[0].correct is False


def test_an_unreadable_answer_is_wrong(running: OwnTest) -> None:
    with pytest.raises(AssertionError, match="unknown command"):
        assert_eed_at_least(UNREADABLE, "x")
    assert (running.scores[0].value, running.scores[0].correct) == (0, False)

"""What the assertion on formulas records and raises, under the plugin or in any other test."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from msgspec.structs import replace

from pytest_llmeval import Completion, Sample, Score, assert_correct, assert_eed_at_least
from pytest_llmeval.scoring.decision import UnscoredError
from pytest_llmeval.scoring.eed.scorer import EedScorer
from pytest_llmeval.scoring.running import RUNNING
from pytest_llmeval.scoring.scorer import NO_ANSWER, Scorer

UNREADABLE = r"\nosuchcommand{x}"


@dataclass
class OwnTest:
    """A running test whose task declares `scorers`, of which the first decides."""

    scorers: tuple[Scorer, ...] = ()
    sample: Sample | None = None
    scores: list[Score] = field(default_factory=list)
    any_decides: bool = False

    def score(self, scorer: Scorer, answer: str | None, sample: Sample) -> Score:
        return self.record(scorer.score(answer, sample, None))

    def tried(
        self, scorer: Scorer, answer: str | None, sample: Sample
    ) -> tuple[Score, Exception | None]:
        return self.score(scorer, answer, sample), None

    def record(self, score: Score) -> Score:
        decides = score.name in [one.name for one in self.scorers[:1]] or not self.scorers
        self.scores.append(replace(score, decides=decides))
        return self.scores[-1]


@pytest.fixture
def running() -> Iterator[OwnTest]:
    test = OwnTest()
    RUNNING.set(test)
    yield test
    RUNNING.set(None)


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


BESIDE = (EedScorer(), EedScorer(mode="published", name="EED published"))
PUBLISHED = (EedScorer(mode="published"), EedScorer(name="EED corrected"))


@pytest.mark.parametrize(
    ("scorers", "values"),
    [
        (BESIDE, {"EED": None, "EED published": 0}),
        (PUBLISHED, {"EED": 0, "EED corrected": None}),
    ],
    ids=["corrected decides", "published decides"],
)
def test_the_mode_that_decides_makes_the_outcome(
    running: OwnTest, scorers: tuple[Scorer, ...], values: dict[str, float | None]
) -> None:
    running.scorers = scorers
    sample = Sample(id="1", input="?", target=UNREADABLE)
    with pytest.raises(UnscoredError if values["EED"] is None else AssertionError):
        assert_correct(sample, Completion(text="x", answer="x"))
    assert {score.name: score.value for score in running.scores} == values
    assert [score.decides for score in running.scores] == [True, False]


def test_the_assertion_takes_what_the_task_says_unless_it_is_told_otherwise(
    running: OwnTest,
) -> None:
    running.scorers = (EedScorer(name="formula", minimum=20), EedScorer())
    score = assert_eed_at_least("3 x + y", "2 x + y")
    assert (score.name, score.correct) == ("formula", True)
    with pytest.raises(AssertionError, match=r"formula \(corrected\) .* wanted at least 90"):
        assert_eed_at_least("3 x + y", "2 x + y", 90)
    with pytest.raises(AssertionError, match=r"formula \(published\) .* wanted at least 100"):
        assert_eed_at_least("3 x + y", "2 x + y", 100, mode="published")


def test_no_answer_is_wrong_even_beside_an_unreadable_target(running: OwnTest) -> None:
    with pytest.raises(AssertionError, match=NO_ANSWER):
        assert_eed_at_least(None, UNREADABLE)
    assert running.scores[0].correct is False


def test_an_unreadable_answer_is_wrong(running: OwnTest) -> None:
    with pytest.raises(AssertionError, match="unknown command"):
        assert_eed_at_least(UNREADABLE, "x")
    assert (running.scores[0].value, running.scores[0].correct) == (0, False)


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        (r"\frac{a}{b}+\nosuchcommand", r"unknown command \nosuchcommand, behind"),
        ("a+", "unexpected the end of the formula, behind 'a +'"),
        ("", "no formula"),
    ],
)
def test_an_unreadable_target_is_told_with_place_and_reason(target: str, reason: str) -> None:
    with pytest.raises(ValueError, match=re.escape(reason)):
        EedScorer().check(target)
    EedScorer(mode="published").check(target)  # which scores it 0, as its rules say


def test_an_unknown_convention_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="unknown convention 'plank'; known are planck, coulomb"):
        EedScorer(conventions=("plank",))  # type: ignore[arg-type]

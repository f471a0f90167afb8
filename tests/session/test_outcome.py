"""The outcome of a sample by how its test ended and by its scores."""

from __future__ import annotations

import pytest

from pytest_llmeval.engine.link import Link
from pytest_llmeval.errors import ModelLost, ProviderError, RunStopped, ScorerError, ToolError
from pytest_llmeval.records import Score
from pytest_llmeval.scoring.decision import UnscoredError
from pytest_llmeval.session.attempt import Attempt
from pytest_llmeval.session.outcome import outcome_of


def no_link() -> Link:
    pytest.fail("nothing is asked here")


def score(*, correct: bool | None, decides: bool = True) -> Score:
    return Score(name="s", value=None, correct=correct, decides=decides)


RIGHT, WRONG, UNDECIDED = score(correct=True), score(correct=False), score(correct=None)


@pytest.mark.parametrize(
    ("phase", "raised", "scores", "expected"),
    [
        ("call", None, [], "correct"),
        ("call", None, [RIGHT], "correct"),
        ("call", AssertionError(), [WRONG], "incorrect"),
        ("call", AssertionError(), [], "incorrect"),
        ("call", AssertionError(), [score(correct=False, decides=False)], "incorrect"),
        ("call", AssertionError(), [RIGHT], "error"),
        ("call", UnscoredError(), [UNDECIDED], "unscored"),
        ("call", AssertionError("the body's own"), [UNDECIDED], "unscored"),
        ("call", ScorerError("the body's own"), [UNDECIDED], "unscored"),
        ("call", ScorerError(), [], "error"),
        ("call", UnscoredError("a judge that the body asked"), [], "unscored"),
        ("setup", UnscoredError("a judge that a fixture asked"), [], "error"),
        ("call", ToolError(), [], "error"),
        ("call", pytest.fail.Exception("Timeout >1.0s"), [], "error"),
        ("call", ValueError(), [], "error"),
        ("call", pytest.skip.Exception(), [], "not run"),
        ("setup", ToolError(), [], "error"),
        ("setup", AssertionError(), [], "error"),
        ("setup", pytest.skip.Exception(), [], "not run"),
        ("setup", RunStopped(), [], "not run"),
        ("setup", ModelLost(), [], "not run"),
        ("call", RunStopped(), [RIGHT], "not run"),
    ],
)
def test_outcome(
    phase: str, raised: BaseException | None, scores: list[Score], expected: str
) -> None:
    attempt = Attempt("test_x.py::test_x[1]", no_link)
    attempt.scores.extend(scores)
    skipped = isinstance(raised, pytest.skip.Exception)
    assert outcome_of(attempt, raised, in_body=phase == "call", skipped=skipped) == expected


@pytest.mark.parametrize(
    ("scores", "expected"), [([UNDECIDED], "error"), ([UNDECIDED, WRONG], "incorrect")]
)
def test_what_a_scorer_failed_by_is_an_error_unless_another_decides(
    scores: list[Score], expected: str
) -> None:
    attempt = Attempt("test_x.py::test_x[1]", no_link)
    attempt.scores.extend(scores)
    attempt.failures["s"] = failure = ProviderError("HTTP 401")
    assert outcome_of(attempt, failure, in_body=True, skipped=False) == expected

"""The outcome of a sample, by how its test ended."""

from __future__ import annotations

from pytest_llmeval.errors import ModelLost, RunStopped
from pytest_llmeval.records import Outcome
from pytest_llmeval.scoring.decision import UnscoredError, together
from pytest_llmeval.session.attempt import Attempt
from pytest_llmeval.session.ending import missing_score


def outcome_of(
    attempt: Attempt, raised: BaseException | None, *, in_body: bool, skipped: bool
) -> Outcome:
    """Return the outcome of an attempt.

    A body is incorrect if a deciding score is. Without a deciding score it is incorrect if it
    raised an AssertionError, unless its task declares a deciding scorer. Any other exception is an
    error, also that of a judge or a scorer. An answer is unscored if nothing broke and nobody
    decided: the verdict was unusable (also of a judge that the body asked, and whose `decision` it
    wanted), no judge is configured, or none was asked because its
    loss is another sample's error, or because the run has ended.

    Args:
        attempt: the attempt.
        raised: the exception that ended it; None if it passed.
        in_body: whether it ended in the body, not in the set-up.
        skipped: whether the test was skipped.
    """
    if skipped or isinstance(raised, RunStopped | ModelLost):
        return "unscored" if attempt.unjudged else "not run"
    if raised is None:
        return "correct"
    decisions = [score.correct for score in attempt.scores if score.decides]
    asked_itself = isinstance(raised, UnscoredError) and not decisions
    if not in_body or (missing_score(attempt) and not asked_itself):
        return "error"
    if not decisions:
        return _of_body_alone(raised)
    correct = together(decisions, any_decides=attempt.any_decides)
    if correct is False:
        return "incorrect"
    broken = any(raised is failure for failure in attempt.failures.values())
    return "unscored" if correct is None and not broken else "error"


def _of_body_alone(raised: BaseException) -> Outcome:
    """Return the outcome of a body that recorded no deciding score."""
    if isinstance(raised, UnscoredError):
        return "unscored"
    return "incorrect" if isinstance(raised, AssertionError) else "error"

"""What a test's ending means for its sample."""

from __future__ import annotations

from pytest_llmeval.errors import ModelLost, RunStopped
from pytest_llmeval.records import Outcome
from pytest_llmeval.scoring.assertions import together
from pytest_llmeval.session.attempt import Attempt


def outcome_of(
    attempt: Attempt, raised: BaseException | None, *, in_body: bool, skipped: bool
) -> Outcome:
    """Return the outcome of an attempt that ended by `raised`, in its body or before.

    A body is incorrect if its deciding scores say so or, where its task declares no scorer and it
    recorded none, if it raised an AssertionError. Whatever else it raises is an error.
    """
    if skipped or isinstance(raised, RunStopped | ModelLost):
        return "not run"
    if raised is None:
        return "correct"
    if not in_body or attempt.missing():
        return "error"
    decisions = [score.correct for score in attempt.scores if score.decides]
    if not decisions:
        return "incorrect" if isinstance(raised, AssertionError) else "error"
    correct = together(decisions, any_decides=attempt.any_decides)
    if correct:
        return "error"
    return "unscored" if correct is None else "incorrect"

"""What a test's report means for its sample."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pytest_llmeval.errors import ModelLost, RunStopped
from pytest_llmeval.records import Outcome, Score


def outcome_of(when: str, raised: BaseException | None, scores: Sequence[Score]) -> Outcome:
    """Return the outcome of a test that ended in phase `when` with `raised`, having recorded `scores`.

    A body is incorrect if a score that decides says so or, without such scores, if it raised an
    AssertionError; all else that it raises is an error, for it says nothing about the model.
    """
    if isinstance(raised, pytest.skip.Exception | RunStopped | ModelLost):
        return "not run"
    if raised is None:
        return "correct"
    decisions = [score.correct for score in scores if score.decides]
    if when != "call":
        return "error"
    if False in decisions or (not decisions and isinstance(raised, AssertionError)):
        return "incorrect"
    return "unscored" if None in decisions else "error"

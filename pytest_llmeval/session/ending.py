"""The end of a test body: missing scores are recorded, and the outcome follows the scores."""

from __future__ import annotations

from pytest_llmeval.errors import LLMEvalError, ScorerError
from pytest_llmeval.records import Completion, Sample
from pytest_llmeval.scoring.decision import decided_together, failure_of
from pytest_llmeval.scoring.scorer import Scorer
from pytest_llmeval.session.attempt import Attempt


def finish(attempt: Attempt, raised: BaseException | None) -> None:
    """Record the scores that do not decide, and fail a passed test with incorrect scores.

    Args:
        attempt: an attempt whose body has ended.
        raised: the exception that ended the body; None if it passed.

    Raises:
        ScorerError: the task declares a deciding scorer, and the body recorded no score of it.
        AssertionError: the body passed, and its deciding scores are incorrect.
        UnscoredError: the body passed, and its deciding scores are undecided.
        Exception: the same, because a scorer failed by it.
    """
    __tracebackhide__ = True
    completion, sample = attempt.completion, attempt.sample
    if attempt.planned is None or completion is None or sample is None:
        return
    if isinstance(raised, LLMEvalError) and not isinstance(raised, ScorerError):
        return
    for one in attempt.declared:
        if not one.decides and not _is_recorded(attempt, one.scorer.name):
            _score_aside(attempt, one.scorer, completion, sample)
    if raised is None:
        _follow_scores(attempt, completion, sample)


def missing_score(attempt: Attempt) -> str:
    """Return the name of a declared deciding scorer without a recorded score; "" for none.

    A body that asserted by a scorer that the task does not declare is scored by that one, so that
    no score is missing.
    """
    if attempt.undeclared:
        return ""
    names = (one.scorer.name for one in attempt.declared if one.decides)
    return next((name for name in names if not _is_recorded(attempt, name)), "")


def _is_recorded(attempt: Attempt, name: str) -> bool:
    return any(score.name == name for score in attempt.scores)


def _follow_scores(attempt: Attempt, completion: Completion, sample: Sample) -> None:
    """Raise what the deciding scores of a passed body require; see `finish`."""
    __tracebackhide__ = True
    if missing := missing_score(attempt):
        msg = (
            f"the task declares the scorer {missing!r}, and the test recorded no score of it: "
            "call assert_correct(sample, completion) in the test"
        )
        raise ScorerError(msg)
    scorers = {one.scorer.name: one.scorer for one in attempt.declared}
    deciding = []
    for score in attempt.scores:
        failure = f"{score.name}: {completion.answer!r} is not correct"
        if (scorer := scorers.get(score.name)) is not None:
            failure = failure_of(scorer, completion.answer, sample, score)
        if score.decides:
            deciding.append((score, failure, attempt.failures.get(score.name)))
    decided_together(deciding, any_decides=attempt.any_decides)


def _score_aside(attempt: Attempt, scorer: Scorer, completion: Completion, sample: Sample) -> None:
    """Record the score of a scorer that does not decide, whatever it fails by."""
    is_incorrect = any(score.decides and score.correct is False for score in attempt.scores)
    if is_incorrect or not getattr(scorer, "only_incorrect", False):
        attempt.tried(scorer, completion.answer, sample)

"""What the scores of a test decide together, and the failure that says so."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from pytest_llmeval.errors import ScorerError
from pytest_llmeval.records import Sample, Score
from pytest_llmeval.scoring.binary import shown
from pytest_llmeval.scoring.scorer import Scorer

LONGEST: Final = 1_000
"""Characters of a failure's first line, which quotes answer and target, at most."""


class UnscoredError(ScorerError):
    """The scorer could decide nothing: the answer is neither right nor wrong."""


def decided(score: Score, failure: str) -> Score:
    """Return the score of a correct answer, or raise what the score means.

    Raises:
        AssertionError: the score says incorrect; the text begins with `failure`, cut to LONGEST.
        UnscoredError: the score is undecided.
    """
    __tracebackhide__ = True
    if score.correct is None:
        msg = f"{score.name}: unscored: {score.explanation}"
        raise UnscoredError(msg)
    if not score.correct:
        # An answer may be a whole reply, and pytest keeps several copies of each failure.
        first = failure if len(failure) <= LONGEST else f"{failure[:LONGEST]}…"
        msg = f"{first}\n{score.explanation}" if score.explanation else first
        raise AssertionError(msg)
    return score


def together(decisions: Iterable[bool | None], *, any_decides: bool) -> bool | None:
    """Return what several decisions amount to: one correct is enough, or all must be.

    An undecided one (None) leaves it open, unless the others settle it.
    """
    found = list(decisions)
    if any_decides in found:
        return any_decides
    return None if None in found else not any_decides


def decided_together(
    deciding: Sequence[tuple[Score, str, Exception | None]], *, any_decides: bool
) -> None:
    """Raise what the deciding scores of a test mean together; nothing if that is correct.

    Args:
        deciding: the scores, each with the first line of its failure, and what its scorer failed
            by, which leaves it undecided.
        any_decides: as `RunningTest.any_decides`.

    Raises:
        AssertionError: incorrect, in the words of the first score that says so.
        Exception: undecided, and a scorer failed: what the first of them failed by.
        UnscoredError: undecided, in the same way.
    """
    __tracebackhide__ = True
    correct = together((score.correct for score, _, _ in deciding), any_decides=any_decides)
    if correct is None and (error := next((e for _, _, e in deciding if e is not None), None)):
        raise error
    for score, failure, _ in deciding:
        if not correct and score.correct is correct:
            decided(score, failure)


def failure_of(scorer: Scorer, answer: str | None, sample: Sample, score: Score) -> str:
    """Return the first line of the assertion that fails by `score`."""
    failure: Callable[[str | None, Sample, Score], str] | None = getattr(scorer, "failure", None)
    if failure is not None:
        return failure(answer, sample, score)
    target = "" if sample.target is None else f", the target is {shown(sample.target_text)}"
    if answer is None:
        return f"{score.name}: there is no answer{target}"
    return f"{score.name}: {shown(answer)} is not correct{target}"

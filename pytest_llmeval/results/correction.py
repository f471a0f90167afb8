"""A run's accuracy, corrected for the measured errors of what scored it."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_llmeval.records import Row
from pytest_llmeval.records.score import DECIDED_BY
from pytest_llmeval.results.answer_labels import DrawnLabels
from pytest_llmeval.results.estimate import Estimate
from pytest_llmeval.results.figures import Corrected, Correction, Judging
from pytest_llmeval.results.gate import ACCURACY_CORRECTED
from pytest_llmeval.results.misclassification import Decided, rogan_gladen
from pytest_llmeval.results.prediction_powered import FEWEST, prediction_powered
from pytest_llmeval.results.rows import SCORED, last_scores, parted

BY_JUDGE = "judge"
"""The value of `DECIDED_BY` in scores that a judge decided."""

_REFUTED = (
    "the judge finds fewer or more answers correct than its error rates allow at any accuracy: the "
    "labelled cases are not of the kind of this run's answers"
)


def accuracy_corrected(
    rows: Sequence[Row], judging: Judging | None, labels: DrawnLabels
) -> Corrected | None:
    """Return the corrected accuracy of rows of one task and model.

    Labels of the run's own answers go before a validation of the judge, as they assume nothing.
    None where there is neither, or no row was scored.
    """
    scored = [row for row in rows if row.outcome in SCORED]
    if not scored:
        return None
    found = _by_labels(scored, labels)
    if found is None or found.problem:
        return _by_validation(scored, judging) or found
    return found


def _by_labels(scored: Sequence[Row], labels: DrawnLabels) -> Corrected | None:
    drawn = labels.of(scored)
    number = sum(map(len, drawn.values()))
    if not number:
        return None
    if number < FEWEST:
        problem = f"{number} labels of answers drawn at random are too few; it takes {FEWEST}"
        return _without("labels", number, problem)
    outcomes = [
        [row.outcome == "correct" for row in part]
        for part in parted(scored, lambda row: row.sample).values()
    ]
    found = prediction_powered(outcomes, drawn)
    return _with(found, "labels", number)


def _by_validation(scored: Sequence[Row], judging: Judging | None) -> Corrected | None:
    if judging is None or (validation := judging.validation) is None:
        return None
    samples = []
    for part in parted(scored, lambda row: row.sample).values():
        decided = [_decided(row) for row in part]
        known = [one for one in decided if one is not None]
        if len(known) < len(decided):
            return None
        samples.append(known)
    if not any(answer.judged for sample in samples for answer in sample):
        return None
    confusion = validation.confusion
    if confusion.unfit:
        return _without("validation", confusion.n, confusion.unfit)
    found = rogan_gladen(samples, confusion)
    if found is None:
        return _without("validation", confusion.n, _REFUTED)
    return _with(found, "validation", confusion.n)


def _decided(row: Row) -> Decided | None:
    """Return how a row was decided.

    None if several scores decided it, or the deciding score does not say what decided.
    """
    deciding = [score for score in last_scores(row).values() if score.decides]
    if len(deciding) != 1 or DECIDED_BY not in deciding[0].details:
        return None
    return Decided(
        correct=row.outcome == "correct", judged=deciding[0].details[DECIDED_BY] == BY_JUDGE
    )


def _with(found: Estimate, method: Correction, labels: int) -> Corrected:
    return Corrected(
        name=ACCURACY_CORRECTED,
        value=found.value,
        n=found.n,
        low=found.low,
        high=found.high,
        method=method,
        labels=labels,
    )


def _without(method: Correction, labels: int, problem: str) -> Corrected:
    return Corrected(
        name=ACCURACY_CORRECTED, value=None, n=0, method=method, labels=labels, problem=problem
    )

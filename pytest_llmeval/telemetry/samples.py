"""The span of a sample: a row, and what happened for it."""

from __future__ import annotations

from pytest_llmeval.records import Row, Score, Transcript
from pytest_llmeval.telemetry import names
from pytest_llmeval.telemetry.calls import event_spans
from pytest_llmeval.telemetry.span import Mark, Span, Value


def sample_span(row: Row, transcript: Transcript, *, reported: float, contents: bool) -> Span:
    """Return the span of a sample, from its first request to its report.

    Args:
        row: the sample's row.
        transcript: what happened for it; empty where nothing did.
        reported: when the row was reported, in seconds since 1970.
        contents: whether texts of models are attributes too.
    """
    events = transcript.events
    children = tuple(span for event in events for span in event_spans(event, contents=contents))
    return Span(
        name=f"sample {row.task}",
        start=min((child.start for child in children), default=reported),
        end=max([reported, *(child.end for child in children)]),
        attributes=_of_row(row, contents=contents),
        error=(row.explanation if contents else "error") if row.outcome == "error" else None,
        marks=tuple(_score(score, contents=contents) for score in row.scores),
        children=children,
    )


def _of_row(row: Row, *, contents: bool) -> dict[str, Value]:
    attributes: dict[str, Value] = {
        "llmeval.test": row.test,
        "llmeval.task": row.task,
        "llmeval.sample": row.sample,
        "llmeval.model": row.model,
        "llmeval.epoch": row.epoch,
        "llmeval.outcome": row.outcome,
        "llmeval.reports": row.reports,
        "llmeval.recorded": row.recorded,
    }
    if row.outcome == "error":
        attributes[names.ERROR_TYPE] = "error"
    if contents and row.explanation:
        attributes["llmeval.explanation"] = row.explanation
    scores = {f"llmeval.score.{one.name}": one.value for one in row.scores}
    return attributes | {name: value for name, value in scores.items() if value is not None}


def _score(score: Score, *, contents: bool) -> Mark:
    label = {True: "correct", False: "incorrect", None: "unscored"}[score.correct]
    attributes: dict[str, Value] = {
        names.EVALUATION_NAME: score.name,
        names.EVALUATION_LABEL: label,
    }
    if score.value is not None:
        attributes[names.EVALUATION_VALUE] = score.value
    if contents and score.explanation:
        attributes[names.EVALUATION_EXPLANATION] = score.explanation
    return Mark(name=names.EVALUATION, attributes=attributes)

"""Rows made from attempts at tests."""

from __future__ import annotations

import os

from msgspec.structs import replace

from pytest_llmeval.engine.plan import PlannedTest
from pytest_llmeval.records import Completion, Json, Outcome, Row, Transcript
from pytest_llmeval.results.rows import ROLE
from pytest_llmeval.safety.printable import message_of
from pytest_llmeval.session.attempt import Attempt
from pytest_llmeval.task.catalog import LoadedTask
from pytest_llmeval.task.question import question_digest

MAX_EXPLANATION = 2_000
"""Characters of a failure's text that a row stores at most."""

WORKER = "PYTEST_XDIST_WORKER"
"""The environment variable in which xdist sets a worker's name."""


def unreported_row(
    test: PlannedTest, loaded: LoadedTask, outcome: Outcome, explanation: str
) -> Row:
    """Return the row of a planned test without a report."""
    sample = loaded.by_id[test.sample]
    return Row(
        **test.key._asdict(),
        nodeid=test.nodeid,
        outcome=outcome,
        target=sample.target,
        order=sample.order,
        question=question_digest(sample),
        explanation=explanation[:MAX_EXPLANATION],
        tags=sample.tags,
        groups=loaded.groups(sample),
        recorded=not test.model or test.model.startswith("replay/"),
        versions=loaded.versions,
    )


def row_of(
    attempt: Attempt, test: PlannedTest, outcome: Outcome, raised: BaseException | None
) -> Row:
    """Return the row of an attempt.

    Args:
        attempt: the attempt at a planned test.
        test: its entry in the plan.
        outcome: its outcome.
        raised: the exception that ended it; None if it passed.
    """
    assert attempt.loaded is not None  # noqa: S101 - a planned test has its task
    row = unreported_row(
        test, attempt.loaded, outcome, "" if raised is None else message_of(raised)
    )
    graders: dict[str, Json] = {
        f"grader:{score.name}": score.grader for score in attempt.scores if score.grader
    }
    partners: dict[str, Json] = {f"{ROLE}{role}": name for role, name in attempt.partners.items()}
    row = replace(
        row,
        scores=tuple(attempt.scores),
        worker=os.environ.get(WORKER, ""),
        versions={**row.versions, **partners, **graders},
    )
    if attempt.completion is None:
        return _with_calls(row, attempt.transcript)
    return _completed(row, attempt.completion)


def _completed(row: Row, completion: Completion) -> Row:
    return replace(
        _with_calls(row, completion.transcript),
        answer=completion.answer,
        stop_reason=completion.stop_reason,
        details=completion.details,
    )


def _with_calls(row: Row, transcript: Transcript) -> Row:
    return replace(
        row,
        usage=transcript.usage,
        seconds=transcript.latency,
        cached=transcript.age is not None,
        age=transcript.age,
        engine=transcript.engine,
        stands_in_for=transcript.stands_in_for,
    )

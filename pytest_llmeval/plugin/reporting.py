"""A test's row, put on its report where the test runs."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_llmeval.plugin.outcome import outcome_of
from pytest_llmeval.plugin.running import Running
from pytest_llmeval.records import Completion, Json, Outcome, Row

if TYPE_CHECKING:
    import pytest

    from pytest_llmeval.engine.plan import PlannedTest
    from pytest_llmeval.task.catalog import LoadedTask

MAX_EXPLANATION = 2_000
"""Characters of a failure's text that a row keeps; the report has it whole."""

PROPERTY = "llmeval."
"""How the names of our properties begin, in JUnit XML and wherever else pytest shows them."""

WORKER = "PYTEST_XDIST_WORKER"


def attach_row(
    report: pytest.TestReport, call: pytest.CallInfo[None], running: Running, *, gating: bool
) -> bool:
    """Put the row on the report that decides over a sample: the body's, or the set-up's if that failed.

    Return whether this is that report. Outcome and scores become properties, which JUnit XML shows.

    Under a gate samples never decide over the exit status: an incorrect one is reported xfailed, an
    error or unscored one skipped.
    """
    raised = None if call.excinfo is None else call.excinfo.value
    if (
        running.planned is None
        or call.when == "teardown"
        or (call.when == "setup" and raised is None)
    ):
        return False
    row = _row(running.planned, running, call.when, raised)
    report.llmeval = row.to_json()  # type: ignore[attr-defined]  # reports carry what plugins put on them
    if gating and row.outcome == "incorrect":
        report.outcome, report.wasxfail = "skipped", _first_line(row.explanation)
    elif gating and row.outcome in {"error", "unscored"}:
        file, line, _ = report.location
        reason = f"Skipped: {row.outcome}: {_first_line(row.explanation)}"
        report.outcome, report.longrepr = "skipped", (file, (line or 0) + 1, reason)
    own = [one for one in report.user_properties if not one[0].startswith(PROPERTY)]
    report.user_properties = [*own, *_properties(row)]
    return True


def _properties(row: Row) -> list[tuple[str, object]]:
    scores = [
        (f"{PROPERTY}{score.name}", score.value) for score in row.scores if score.value is not None
    ]
    return [(f"{PROPERTY}outcome", row.outcome), (f"{PROPERTY}model", row.key.model), *scores]


def status_of(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """Return pytest's error category for a body that failed by no fault of the model, None for all else."""
    row = getattr(report, "llmeval", None)
    if row is None or not report.failed or row["outcome"] not in {"error", "unscored"}:
        return None
    return "error", "E", "ERROR"


def unreported_row(
    test: PlannedTest, loaded: LoadedTask, outcome: Outcome, explanation: str
) -> Row:
    """Return the row of a planned test that no process told anything of."""
    sample = loaded.by_id[test.sample]
    return Row(
        key=test.key,
        nodeid=test.nodeid,
        outcome=outcome,
        target=sample.target,
        explanation=explanation[:MAX_EXPLANATION],
        tags=sample.tags,
        groups=loaded.groups(sample),
        recorded=not test.model or test.model.startswith("replay/"),
        versions=loaded.versions,
    )


def _row(test: PlannedTest, running: Running, when: str, raised: BaseException | None) -> Row:
    assert running.loaded is not None  # noqa: S101 - a planned test has its task
    outcome = outcome_of(when, raised, running.scores)
    row = unreported_row(test, running.loaded, outcome, "" if raised is None else str(raised))
    graders: dict[str, Json] = {
        f"grader:{score.name}": score.grader for score in running.scores if score.grader
    }
    row = replace(
        row,
        scores=tuple(running.scores),
        worker=os.environ.get(WORKER, ""),
        versions={**row.versions, **graders},
    )
    return row if running.completion is None else _completed(row, running.completion)


def _completed(row: Row, completion: Completion) -> Row:
    return replace(
        row,
        answer=completion.answer,
        stop_reason=completion.stop_reason,
        usage=completion.transcript.usage,
        seconds=completion.transcript.latency,
        cached=completion.transcript.age is not None,
        age=completion.transcript.age,
        engine_uncertain=completion.transcript.uncertain,
        details=completion.details,
    )


def _first_line(text: str) -> str:
    return text.partition("\n")[0]

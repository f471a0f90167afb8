"""Rows attached to test reports, in the process where the test runs."""

from __future__ import annotations

from dataclasses import astuple
from pathlib import Path

import pytest

from pytest_llmeval.errors import TaskError
from pytest_llmeval.files.json_lines import record_line
from pytest_llmeval.records import Row
from pytest_llmeval.session.attempt import Attempt
from pytest_llmeval.session.failures import Failure
from pytest_llmeval.session.outcome import outcome_of
from pytest_llmeval.session.rows import row_of

PROPERTY = "llmeval."
"""The start of the names of this plugin's properties in reports, which JUnit XML shows."""


def attach_row(  # noqa: PLR0913 - the facts of one report
    report: pytest.TestReport,
    call: pytest.CallInfo[None],
    attempt: Attempt,
    test_file: Path,
    *,
    gating: bool,
    travels: bool,
) -> bool:
    """Attach a sample's row to the report that decides its outcome.

    That is the report of the body, or of a failed set-up. Outcome, model and scores become
    properties, which JUnit XML shows.

    Args:
        report: any report of the test.
        call: the phase that was reported.
        attempt: the attempt at the test.
        test_file: the file of the test.
        gating: whether a gate decides the exit status, not the samples. An incorrect sample is then
            reported as xfailed, and an error or unscored one as skipped.
        travels: whether the report is sent to another process. The row is then a line of JSON,
            because half a surrogate pair in an answer could not be sent in any other form.

    Returns:
        Whether `report` is the deciding one.
    """
    raised = None if call.excinfo is None else call.excinfo.value
    test = attempt.planned
    if test is None or call.when == "teardown" or (call.when == "setup" and raised is None):
        return False
    skipped = isinstance(raised, pytest.skip.Exception)
    outcome = outcome_of(attempt, raised, in_body=call.when == "call", skipped=skipped)
    row = row_of(attempt, test, outcome, raised)
    # Plugins may set attributes of reports; xdist sends them to the controller.
    report.llmeval = record_line(row) if travels else row  # type: ignore[attr-defined]
    report.llmeval_error = outcome in {"error", "unscored"}  # type: ignore[attr-defined]
    if outcome == "error" and raised is not None:
        failure = Failure.of(raised, test_file, test.sample, in_body=call.when == "call")
        report.llmeval_failure = failure and astuple(failure)  # type: ignore[attr-defined]
    # A mistake in the task is nothing that a gate could weigh.
    if gating and not isinstance(raised, TaskError):
        _let_pass(report, row)
    own = [one for one in report.user_properties if not one[0].startswith(PROPERTY)]
    report.user_properties = [*own, *_properties(row)]
    return True


def _let_pass(report: pytest.TestReport, row: Row) -> None:
    """Change a failed report so that pytest does not count it as a failure."""
    first_line = row.explanation.partition("\n")[0]
    if row.outcome == "incorrect":
        report.outcome, report.wasxfail = "skipped", first_line
    elif row.outcome in {"error", "unscored"}:
        file, line, _ = report.location
        reason = f"Skipped: {row.outcome}: {first_line}"
        report.outcome, report.longrepr = "skipped", (file, (line or 0) + 1, reason)


def _properties(row: Row) -> list[tuple[str, object]]:
    scores = [(f"{PROPERTY}{one.name}", one.value) for one in row.scores if one.value is not None]
    return [(f"{PROPERTY}outcome", row.outcome), (f"{PROPERTY}model", row.model), *scores]

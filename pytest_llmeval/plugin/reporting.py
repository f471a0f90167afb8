"""A test's row, put on its report where the test runs."""

from __future__ import annotations

import pytest

from pytest_llmeval.records import Row
from pytest_llmeval.session.attempt import Attempt
from pytest_llmeval.session.outcome import outcome_of
from pytest_llmeval.session.rows import row_of

PROPERTY = "llmeval."
"""How the names of our properties begin, in JUnit XML and wherever else pytest shows them."""


def attach_row(
    report: pytest.TestReport,
    call: pytest.CallInfo[None],
    attempt: Attempt,
    *,
    gating: bool,
    travels: bool,
) -> bool:
    """Put the row on the report that decides over a sample; return whether this is that report.

    It is the body's report, or the set-up's if that failed. Outcome and scores become properties,
    which JUnit XML shows. Under a gate samples never decide over the exit status: an incorrect one
    is reported xfailed, an error or unscored one skipped. A row that `travels` to another process
    is put there as JSON.
    """
    raised = None if call.excinfo is None else call.excinfo.value
    test = attempt.planned
    if test is None or call.when == "teardown" or (call.when == "setup" and raised is None):
        return False
    skipped = isinstance(raised, pytest.skip.Exception)
    outcome = outcome_of(attempt, raised, in_body=call.when == "call", skipped=skipped)
    row = row_of(attempt, test, outcome, raised)
    report.llmeval = row.to_json() if travels else row  # type: ignore[attr-defined]  # plugins may
    report.llmeval_error = outcome in {"error", "unscored"}  # type: ignore[attr-defined]  # as above
    if gating:
        _let_pass(report, row)
    own = [one for one in report.user_properties if not one[0].startswith(PROPERTY)]
    report.user_properties = [*own, *_properties(row)]
    return True


def _let_pass(report: pytest.TestReport, row: Row) -> None:
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

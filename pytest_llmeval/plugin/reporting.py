"""A test's row, put on its report where the test runs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pytest_llmeval.plugin.outcome import outcome_of
from pytest_llmeval.plugin.running import Running
from pytest_llmeval.records import Completion, Json, Row, Sample, Usage

if TYPE_CHECKING:
    import pytest

MAX_EXPLANATION = 2_000
"""Characters of a failure's text that a row keeps; the report has it whole."""

WORKER = "PYTEST_XDIST_WORKER"


def attach_row(report: pytest.TestReport, call: pytest.CallInfo[None], running: Running, *, gating: bool) -> None:
    """Put the row on the report that decides over a sample: the body's, or the set-up's if that failed.

    Under a gate samples never decide over the exit status: an incorrect one is reported xfailed, an error or
    unscored one skipped.
    """
    raised = None if call.excinfo is None else call.excinfo.value
    if running.planned is None or call.when == "teardown" or (call.when == "setup" and raised is None):
        return
    row = _row(running, call.when, raised)
    report.llmeval = row.to_json()  # type: ignore[attr-defined]  # reports carry what plugins put on them
    if gating and row.outcome == "incorrect":
        report.outcome, report.wasxfail = "skipped", _first_line(row.explanation)
    elif gating and row.outcome in {"error", "unscored"}:
        file, line, _ = report.location
        reason = f"Skipped: {row.outcome}: {_first_line(row.explanation)}"
        report.outcome, report.longrepr = "skipped", (file, (line or 0) + 1, reason)


def status_of(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """Return pytest's error category for a body that failed by no fault of the model, None for all else."""
    row = getattr(report, "llmeval", None)
    if row is None or not report.failed or row["outcome"] not in {"error", "unscored"}:
        return None
    return "error", "E", "ERROR"


def _row(running: Running, when: str, raised: BaseException | None) -> Row:
    planned, task, sample = running.planned, running.task, running.sample
    assert planned is not None and task is not None and sample is not None  # noqa: PT018, S101 - set together
    completion = running.completion or Completion(text="", stop_reason="stop")
    calls = completion.transcript.calls
    graders: dict[str, Json] = {f"grader:{score.name}": score.grader for score in running.scores if score.grader}
    return Row(
        key=planned.key,
        nodeid=planned.nodeid,
        outcome=outcome_of(when, raised, running.scores),
        scores=tuple(running.scores),
        answer=completion.answer,
        target=sample.target,
        explanation="" if raised is None else str(raised)[:MAX_EXPLANATION],
        tags=sample.tags,
        groups={name: _group(name, sample) for name in task.group_by},
        stop_reason=completion.stop_reason if running.completion else "",
        usage=sum((call.reply.usage for call in calls), Usage()),
        seconds=completion.transcript.latency,
        cached=False,
        recorded=not planned.model or planned.model.startswith("replay/"),
        worker=os.environ.get(WORKER, ""),
        details=completion.details,
        versions={"task": task.version, "prompt": task.prompt_digest, "settings": task.settings_digest, **graders},
    )


def _group(name: str, sample: Sample) -> str:
    """Return the sample's value for a `group_by` name: its first tag, or a piece of its metadata."""
    if name in {"tag", "tags"}:
        return sample.tags[0] if sample.tags else ""
    return str(sample.metadata.get(name, ""))


def _first_line(text: str) -> str:
    return text.partition("\n")[0]

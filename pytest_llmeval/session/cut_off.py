"""Runs of which rows are missing: cut off, or changed since their verdict."""

from __future__ import annotations

from dataclasses import replace

from msgspec.structs import replace as with_fields

from pytest_llmeval.results.gate import Bounds
from pytest_llmeval.results.gate_result import GateResult, RuleResult
from pytest_llmeval.results.stored_run import StoredRun
from pytest_llmeval.results.summary import Summary
from pytest_llmeval.session.findings import Findings


def cut_off_text(missing: int) -> str:
    """Return what is said of a run that was cut off."""
    return f"{missing:,} planned samples have no row: the run was cut off"


def with_cut_off(found: Findings, run: StoredRun) -> Findings:
    """Return a run's findings; a gate does not pass if the run was cut off.

    The missing samples may be the ones that went wrong.
    """
    if found.gate is None or not run.missing:
        return found
    lacking = _lacking(run, run.planned, cut_off_text(run.missing))
    return replace(found, gate=with_fields(found.gate, results=(lacking, *found.gate.results)))


def changed_since(run: StoredRun, stored: Summary, now: Summary) -> str:
    """Return how a run's rows differ from those that its summary was made of; empty: they do not.

    Args:
        run: the run, with the rows that are there.
        stored: its summary.json.
        now: the summary of the rows.
    """
    before = sum(entry.figures.counts.planned for entry in stored.entries)
    wanted = max(before, run.planned)
    if len(run.rows) < wanted:
        return f"{len(run.rows):,} of {wanted:,} rows are left"
    counts = [
        {(entry.task, entry.test, entry.model): entry.figures.counts for entry in summary.entries}
        for summary in (stored, now)
    ]
    return "" if counts[0] == counts[1] else "the rows have changed since the summary was made"


def no_verdict(run: StoredRun, stored: Summary, changed: str) -> GateResult:
    """Return the result in place of a stored one whose rows are no longer there."""
    before = sum(entry.figures.counts.planned for entry in stored.entries)
    reason = f"{changed}, so the verdict that was stored no longer holds; llmeval gate decides anew"
    return GateResult(results=(_lacking(run, max(before, run.planned), reason),))


def _lacking(run: StoredRun, planned: int, reason: str) -> RuleResult:
    return RuleResult(
        task="run",
        model="",
        metric="rows",
        value=len(run.rows),
        bounds=Bounds(minimum=planned),
        status="fail",
        reason=reason,
    )

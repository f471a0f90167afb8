"""Runs that were cut off: planned samples without a row."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from msgspec.structs import replace as with_fields

from pytest_llmeval.records import Json
from pytest_llmeval.results.gate import Bounds
from pytest_llmeval.results.gate_result import GateResult, RuleResult
from pytest_llmeval.results.stored_run import StoredRun
from pytest_llmeval.session.findings import Findings


def planned_rows(run: StoredRun) -> int:
    """Return the number of rows that a run would have if all its sessions had ended."""
    resumed = cast("list[dict[str, Json]]", run.info.get("resumed", []))
    planned = (cast("int", session.get("planned", 0)) for session in (run.info, *resumed))
    return max(len(run.rows), *planned)


def missing_rows(run: StoredRun) -> int:
    """Return the number of planned samples without a row: more than 0 if a run was killed."""
    return planned_rows(run) - len(run.rows)


def cut_off_text(missing: int) -> str:
    """Return what is said of a run that was cut off."""
    return f"{missing:,} planned samples have no row: the run was cut off"


def with_cut_off(found: Findings, run: StoredRun) -> Findings:
    """Return a run's findings; a gate does not pass if the run was cut off.

    The missing samples may be the ones that went wrong.
    """
    missing = missing_rows(run)
    if found.gate is None or not missing:
        return found
    lacking = RuleResult(
        task="run",
        model="",
        metric="rows",
        value=len(run.rows),
        bounds=Bounds(minimum=len(run.rows) + missing),
        status="fail",
        reason=cut_off_text(missing),
    )
    gate: GateResult = with_fields(found.gate, results=(lacking, *found.gate.results))
    return replace(found, gate=gate)

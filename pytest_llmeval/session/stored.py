"""The findings of a stored run: its figures anew from its rows, with what its own session said of tasks and gate."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from pytest_llmeval.results.gate import GateResult
from pytest_llmeval.results.metrics import summarise
from pytest_llmeval.results.rescoring import Rescoring
from pytest_llmeval.results.store import SUMMARY, StoredRun, read_json
from pytest_llmeval.results.stored_tasks import stored_tasks
from pytest_llmeval.session.findings import Findings

if TYPE_CHECKING:
    from pytest_llmeval.records import Json


def stored_findings(run: StoredRun) -> Findings:
    """Return a run's findings; UsageError when its files are not what a run leaves."""
    told = read_json(run.path / SUMMARY) if (run.path / SUMMARY).is_file() else {}
    gate, again = (cast("dict[str, Json] | None", told.get(name)) for name in ("gate", "rescoring"))
    return Findings(
        rows=run.rows,
        summary=summarise(run.rows, stored_tasks(run)),
        gate=None if gate is None else GateResult.from_json(gate),
        rescoring=None if again is None else Rescoring.from_json(again),
        engine=told.get("engine"),
    )

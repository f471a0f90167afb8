"""How a row of a task's table is called."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_llmeval.report.clean import clean
from pytest_llmeval.results.summary import TaskSummary


def entry_name(entry: TaskSummary, entries: Sequence[TaskSummary]) -> str:
    """Return what differs between the entries of a task: model, test function; else "all"."""
    parts = []
    if len({other.model for other in entries}) > 1:
        parts.append(clean(entry.model))
    if len({other.test for other in entries}) > 1:
        parts.append(clean(entry.test.rpartition("::")[2]))
    return " · ".join(parts) or "all"

"""How a task is called above its figures."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_llmeval.report.clean import clean
from pytest_llmeval.results.summary import TaskSummary


def task_title(entries: Sequence[TaskSummary]) -> str:
    """Return a task's title, with what keeps its figures from being results of the benchmark.

    That are data for a demonstration, and an engine that stood in for the one it is made for.
    """
    info = entries[0].info
    title = clean(info.title) + (" (demo data)" if info.demo else "")
    met = [one for entry in entries for one in entry.figures.stand_ins]
    parts = dict.fromkeys(one.engines for one in met)
    return " · ".join([title, *map(clean, parts)])

"""The accuracy of a task over the runs, and where two of them cannot be compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from pytest_llmeval.view.listing import Listed
from pytest_llmeval.view.run_line import LineEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendPoint:
    """The accuracy of a task under a model in one run.

    Attributes:
        run: the run, with its state.
        entry: task, model and accuracy.
        changed: what is not as in the run before it: "data", or the name of a score whose grader
            is another one. The accuracies before and after are not of the same thing.
    """

    run: Listed
    entry: LineEntry
    changed: tuple[str, ...] = ()


def trend(runs: Iterable[Listed], task: str) -> list[TrendPoint]:
    """Return the points of a task, the oldest first."""
    points = []
    before: dict[tuple[str, str], Mapping[str, tuple[str, ...]]] = {}
    for run in sorted(runs, key=lambda one: (one.line.started or 0.0, one.name)):
        for entry in run.line.entries:
            if entry.task == task:
                series = entry.test, entry.model
                changed = tuple(_changes(before.get(series), entry.versions))
                before[series] = {**before.get(series, {}), **entry.versions}
                points.append(TrendPoint(run=run, entry=entry, changed=changed))
    return points


def tasks_of(runs: Iterable[Listed]) -> list[tuple[str, str]]:
    """Return name and title of the tasks of all runs; of several titles that of the newest run."""
    titles: dict[str, str] = {}
    for run in runs:
        for entry in run.line.entries:
            titles.setdefault(entry.task, entry.title)
    return sorted(titles.items(), key=lambda one: (one[1].casefold(), one[0]))


def _changes(
    before: Mapping[str, tuple[str, ...]] | None, now: Mapping[str, tuple[str, ...]]
) -> Iterator[str]:
    """Yield what differs; a version that one of the two runs does not tell is no difference."""
    for name, versions in now.items():
        known = versions if before is None else before.get(name, versions)
        if known != versions:
            yield "data" if name == "dataset" else name.removeprefix("grader:")

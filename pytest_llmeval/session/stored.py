"""The findings of a stored run, computed again from its rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec.structs import replace

from pytest_llmeval.files.json_file import read_json, record_in
from pytest_llmeval.records.score import OPINIONS
from pytest_llmeval.results.answer_labels import read_labels
from pytest_llmeval.results.figures import Figures
from pytest_llmeval.results.gate_result import GateResult
from pytest_llmeval.results.judging import is_of
from pytest_llmeval.results.rescoring import Rescoring
from pytest_llmeval.results.run_files import LABELS, SUMMARY
from pytest_llmeval.results.stored_run import StoredRun
from pytest_llmeval.results.stored_tasks import stored_tasks
from pytest_llmeval.results.summarise import summarise
from pytest_llmeval.results.summary import Summary, TaskSummary
from pytest_llmeval.results.task_info import TaskInfo, Validated
from pytest_llmeval.session.cut_off import changed_since, no_verdict
from pytest_llmeval.session.findings import Findings
from pytest_llmeval.session.validations import FOLDER, read_validations


def stored_findings(run: StoredRun) -> Findings:
    """Return a run's findings.

    Figures are computed from the rows, with human labels, and validations of judges made since;
    gate, rescoring and the values of functions as metrics are taken from its summary.json. The
    result of a gate is not, if the rows are no longer those that it was decided by.

    Raises:
        UsageError: a file of the run cannot be read; the message names file and field.
    """
    file = run.path / SUMMARY
    found = Findings(
        rows=run.rows,
        summary=summarise(run.rows, _tasks(run), labels=read_labels(run.path)),
        remarks=run.remarks,
    )
    if not file.is_file():
        return found
    data = read_json(file)
    gate, again = data.get("gate"), data.get("rescoring")
    stored = record_in(file, Summary, data)
    result = None if gate is None else record_in(file, GateResult, gate)
    changed = changed_since(run, stored, found.summary)
    if changed and result is not None:
        result = no_verdict(run, stored, changed)
    return Findings(
        rows=run.rows,
        summary=_with_stored_metrics(found.summary, stored),
        gate=result,
        changed=changed,
        rescoring=None if again is None else record_in(file, Rescoring, again),
        engine=data.get("engine"),
        remarks=run.remarks,
    )


def concluded_findings(run: StoredRun) -> Findings:
    """Return the findings with which a run ended, without computing them again.

    Where its summary.json is of other rows, or it has labels, they are `stored_findings`.

    Raises:
        UsageError: as `stored_findings`.
    """
    file = run.path / SUMMARY
    if not file.is_file() or (run.path / LABELS).is_file():
        return stored_findings(run)
    data = read_json(file)
    summary = record_in(file, Summary, data)
    counted = sum(entry.figures.counts.planned for entry in summary.entries)
    if not counted == len(run.rows) == run.planned:
        return stored_findings(run)
    gate, again = data.get("gate"), data.get("rescoring")
    return Findings(
        rows=run.rows,
        summary=summary,
        gate=None if gate is None else record_in(file, GateResult, gate),
        rescoring=None if again is None else record_in(file, Rescoring, again),
        engine=data.get("engine"),
        remarks=run.remarks,
    )


def _tasks(run: StoredRun) -> Mapping[str, TaskInfo]:
    """Return what the run knew of its tasks, with validations of its judges made since."""
    tasks, made = stored_tasks(run), read_validations(run.path.parent / FOLDER)
    graders: dict[str, set[str]] = {}
    for row in run.rows if made else ():
        judged = (score.grader for score in row.scores if OPINIONS in score.details)
        graders.setdefault(row.task, set()).update(filter(None, judged))
    return {
        name: replace(info, validations=(*_fitting(made, graders.get(name, ())), *info.validations))
        for name, info in tasks.items()
    }


def _fitting(made: Iterable[Validated], graders: Iterable[str]) -> Iterator[Validated]:
    known = tuple(graders)
    return (one for one in made if any(is_of(one, grader) for grader in known))


def _with_stored_metrics(new: Summary, stored: Summary) -> Summary:
    """Return `new` with the values of metrics that only the run's session could compute.

    A metric that is a function in a file is not loaded for a stored run.
    """
    by_part = {(entry.task, entry.test, entry.model): entry for entry in stored.entries}
    entries = (
        _entry(entry, by_part.get((entry.task, entry.test, entry.model))) for entry in new.entries
    )
    return Summary(entries=tuple(entries))


def _entry(new: TaskSummary, stored: TaskSummary | None) -> TaskSummary:
    if stored is None:
        return new
    by_group = {(group.key, group.value): group.figures for group in stored.groups}
    groups = (
        replace(group, figures=_figures(group.figures, by_group.get((group.key, group.value))))
        for group in new.groups
    )
    return replace(new, figures=_figures(new.figures, stored.figures), groups=tuple(groups))


def _figures(new: Figures, stored: Figures | None) -> Figures:
    known = {metric.name for metric in new.metrics}
    lost = () if stored is None else (one for one in stored.metrics if one.name not in known)
    return replace(new, metrics=(*new.metrics, *lost))

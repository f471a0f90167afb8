"""The end of a run: figures, gate, files, and what the terminal shows."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_llmeval.engine.statistics import Effort
from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Row
from pytest_llmeval.results.answer_labels import AnswerLabel, read_labels
from pytest_llmeval.results.gate_result import GateResult
from pytest_llmeval.results.rescoring import rescoring
from pytest_llmeval.results.row_texts import Whole, as_it_is, whole_from
from pytest_llmeval.results.store import RunFolder
from pytest_llmeval.results.stored_run import StoredRun
from pytest_llmeval.results.summarise import summarise
from pytest_llmeval.session.findings import Findings, write_findings
from pytest_llmeval.session.printout import Writer, print_all, print_short
from pytest_llmeval.session.step_summary import write_step_summary
from pytest_llmeval.session.task_info import KnownTask

if TYPE_CHECKING:
    from pytest_llmeval.session.yardstick import Yardstick


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """What a run is compared with.

    Attributes:
        yardstick: gate and baseline.
        replayed: the run whose replies were scored again.
    """

    yardstick: Yardstick | None = None
    replayed: StoredRun | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """The results of a run, as they are shown at its end.

    Attributes:
        found: the findings.
        path: the run's folder; None without files.
        effort: statistics of the calls; None if no model was asked.
        unwritten: sentences about what could not be opened or written, which makes the exit status
            other than 0.
        prices: lines about the prices by which cost was computed.
        remarks: sentences about undeclared scorers that decided, and failures of test bodies.
    """

    found: Findings
    path: Path | None
    effort: Effort | None
    prices: tuple[str, ...] = ()
    unwritten: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def gate(self) -> GateResult | None:
        """The gate's result, if there is a gate."""
        return self.found.gate

    @property
    def gate_failed(self) -> bool:
        """Whether there is a gate that did not pass."""
        return self.gate is not None and not self.gate.passed

    @property
    def not_run(self) -> bool:
        """Whether planned samples were not run."""
        return any(row.outcome == "not run" for row in self.found.rows)

    @property
    def fails(self) -> bool:
        """Whether the exit status must not be 0: a gate that did not pass, or a file is missing."""
        return self.gate_failed or bool(self.unwritten)

    def print(self, writer: Writer, *, groups: bool = False) -> None:
        """Write the results; with `groups` all tables instead of a line for each task."""
        if groups:
            print_all(self, writer)
        else:
            print_short(self, writer)


def conclude(
    rows: Sequence[Row],
    tasks: Mapping[str, KnownTask],
    measures: Measures,
    folder: RunFolder | None,
    effort: Effort | None,
) -> Conclusion:
    """Write the files of a run, and return its conclusion.

    A file that cannot be written is reported in `Conclusion.unwritten`.

    Args:
        rows: all rows of the run, as they are stored; long texts may be left out.
        tasks: the tasks by name.
        measures: what the run is compared with.
        folder: the run's folder; None if no files are wanted.
        effort: statistics of the calls.
    """
    whole: Whole = as_it_is
    labels: tuple[AnswerLabel, ...] = ()
    if folder is not None:
        whole, labels = whole_from(folder.path), read_labels(folder.path)
    found = replace(_found(tuple(rows), tasks, measures, whole, labels), whole=whole)
    if effort is not None and effort.total.requests:
        found = replace(found, engine=effort.to_json())
    unwritten = () if folder is None else write_findings(folder.files, found)
    path = None if folder is None else folder.path
    return Conclusion(
        found=found,
        path=path,
        effort=effort,
        unwritten=(*unwritten, *_write_step_summary(found, path)),
    )


def _found(
    rows: tuple[Row, ...],
    tasks: Mapping[str, KnownTask],
    measures: Measures,
    whole: Whole,
    labels: Sequence[AnswerLabel],
) -> Findings:
    infos = {name: task.info for name, task in tasks.items()}
    metrics = {name: task.metrics for name, task in tasks.items()}
    reading = {name for name, task in tasks.items() if task.reads_texts}
    summary = summarise(
        (whole(row) if row.task in reading else row for row in rows), infos, metrics, labels
    )
    yardstick, replayed = measures.yardstick, measures.replayed
    found = (
        Findings(rows=rows, summary=summary)
        if yardstick is None
        else yardstick.applied(rows, summary)
    )
    if replayed is not None:
        again = rescoring(replayed.path.name, replayed.rows, map(whole, rows))
        found = replace(found, rescoring=again)
    return found


def _write_step_summary(found: Findings, path: Path | None) -> list[str]:
    """Write the summary for GitHub Actions, for a run with a gate; return failures."""
    if found.gate is None:
        return []
    try:
        write_step_summary(found, path, os.environ)
    except (OSError, UsageError) as error:
        return [f"the step's summary could not be written: {error}"]
    return []

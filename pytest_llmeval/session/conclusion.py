"""The end of a run: figures, gate, files, and what the terminal shows."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_llmeval.report.table import (
    render_comparison,
    render_gate,
    render_rescoring,
    render_table,
)
from pytest_llmeval.results.metrics import summarise
from pytest_llmeval.results.rescoring import rescoring
from pytest_llmeval.session.effort import effort_lines
from pytest_llmeval.session.findings import Findings, write_findings
from pytest_llmeval.session.step_summary import write_step_summary

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter

    from pytest_llmeval.engine.statistics import Effort
    from pytest_llmeval.records import Row
    from pytest_llmeval.results.gate import GateResult
    from pytest_llmeval.results.store import RunFolder, StoredRun
    from pytest_llmeval.results.summary import TaskInfo
    from pytest_llmeval.session.yardstick import Yardstick


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """What a run is held against: gate and baseline, and the run whose replies it scored again; each may be missing."""

    yardstick: Yardstick | None = None
    replayed: StoredRun | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """What was found, the place of the files (None: there are none), and what calls came to.

    `trouble` tells what could not be written.
    """

    found: Findings
    path: Path | None
    effort: Effort | None
    trouble: tuple[str, ...] = ()

    @property
    def gate(self) -> GateResult | None:
        """The gate's verdict, if one was asked for."""
        return self.found.gate

    @property
    def gate_failed(self) -> bool:
        """Whether a gate was asked for and not met."""
        return self.gate is not None and not self.gate.passed

    def print(self, reporter: TerminalReporter) -> None:
        """Write table, comparison, gate and place of the files to the terminal."""
        writer = reporter._tw  # noqa: SLF001 - pytest's reporter offers no other way to its width and colours
        width, color = max(40, writer.fullwidth), writer.hasmarkup
        reporter.section("LLM benchmark results")
        reporter.write(render_table(self.found.summary, width=width, color=color))
        if self.found.rescoring is not None:
            reporter.write(render_rescoring(self.found.rescoring, width=width, color=color))
        if self.found.against is not None:
            against = self.found.against
            reporter.section(f"against {against.name}")
            reporter.write(render_comparison(against.comparison, width=width, color=color))
        if self.gate is not None:
            reporter.write(render_gate(self.gate, width=width, color=color))
        for line in [] if self.effort is None else effort_lines(self.effort):
            reporter.write_line(line)
        for line in self.trouble:
            reporter.write_line(line, yellow=True)
        if self.path is not None:
            reporter.write_line(f"run: {_shortest(self.path)}")


def conclude(
    rows: Sequence[Row],
    tasks: Mapping[str, TaskInfo],
    measures: Measures,
    folder: RunFolder | None,
    effort: Effort | None,
) -> Conclusion:
    """Return the conclusion of a run, its files written into `folder`.

    Whatever cannot be written costs neither the table nor the verdict.
    """
    found = _found(tuple(rows), tasks, measures)
    if effort is not None and effort.total.requests:
        found = replace(found, engine=effort.to_json())
    trouble = [*_write(found, folder), *_write_step_summary(found)]
    path = None if folder is None else folder.path
    return Conclusion(found=found, path=path, effort=effort, trouble=tuple(trouble))


def _found(rows: tuple[Row, ...], tasks: Mapping[str, TaskInfo], measures: Measures) -> Findings:
    summary, yardstick, replayed = summarise(rows, tasks), measures.yardstick, measures.replayed
    found = (
        Findings(rows=rows, summary=summary)
        if yardstick is None
        else yardstick.applied(rows, summary)
    )
    if replayed is not None:
        found = replace(found, rescoring=rescoring(replayed.path.name, replayed.rows, rows))
    return found


def _write(found: Findings, folder: RunFolder | None) -> list[str]:
    if folder is None:
        return []
    try:
        write_findings(folder.files, found)
    except Exception as error:  # noqa: BLE001 - a paid run's table must be shown whatever is wrong with its files
        return [f"not all files of the run could be written: {type(error).__name__}: {error}"]
    return []


def _write_step_summary(found: Findings) -> list[str]:
    """Tell GitHub Actions of a gate's verdict."""
    if found.gate is None:
        return []
    try:
        write_step_summary(found, os.environ)
    except OSError as error:
        return [f"the step's summary could not be written: {error}"]
    return []


def _shortest(path: Path) -> Path:
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path

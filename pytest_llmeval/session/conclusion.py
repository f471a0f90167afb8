"""The end of a run: figures, gate, files, and what the terminal shows."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from pytest_llmeval.engine.statistics import Effort
from pytest_llmeval.records import Row
from pytest_llmeval.report.table import (
    render_comparison,
    render_gate,
    render_rescoring,
    render_table,
)
from pytest_llmeval.results.gate_result import GateResult
from pytest_llmeval.results.rescoring import rescoring
from pytest_llmeval.results.store import RunFolder
from pytest_llmeval.results.stored_run import StoredRun
from pytest_llmeval.results.summarise import summarise
from pytest_llmeval.session.effort import effort_lines
from pytest_llmeval.session.findings import Findings, write_findings
from pytest_llmeval.session.step_summary import write_step_summary
from pytest_llmeval.session.task_info import KnownTask
from pytest_llmeval.session.yardstick import Yardstick

NARROWEST = 40
"""Columns of a terminal for which tables are drawn; a narrower one breaks their lines."""


class Writer(Protocol):
    """A terminal, or whatever stands for one."""

    @property
    def width(self) -> int:
        """Columns of a line."""
        ...

    @property
    def color(self) -> bool:
        """Whether colours are shown."""
        ...

    def section(self, title: str) -> None:
        """Write a heading."""
        ...

    def write(self, text: str) -> None:
        """Write text that ends with a line break."""
        ...

    def warn(self, line: str) -> None:
        """Write a line that must be noticed."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """What a run is compared with: gate and baseline, and the run whose replies it scored again."""

    yardstick: Yardstick | None = None
    replayed: StoredRun | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """What was found, the folder of the files (None: there is none), and what calls came to.

    `trouble` says what could not be written.
    """

    found: Findings
    path: Path | None
    effort: Effort | None
    trouble: tuple[str, ...] = ()

    @property
    def gate(self) -> GateResult | None:
        """The gate's result, if there is a gate."""
        return self.found.gate

    @property
    def gate_failed(self) -> bool:
        """Whether there is a gate, and it did not pass."""
        return self.gate is not None and not self.gate.passed

    def print(self, writer: Writer) -> None:
        """Write table, comparison, gate and the path of the files."""
        width, color = max(NARROWEST, writer.width), writer.color
        writer.section("LLM benchmark results")
        writer.write(render_table(self.found.summary, width=width, color=color))
        if self.found.rescoring is not None:
            writer.write(render_rescoring(self.found.rescoring, width=width, color=color))
        if self.found.against is not None:
            against = self.found.against
            writer.section(f"against {against.name}")
            writer.write(render_comparison(against.comparison, width=width, color=color))
        if self.gate is not None:
            writer.write(render_gate(self.gate, width=width, color=color))
        for line in [] if self.effort is None else effort_lines(self.effort):
            writer.write(f"{line}\n")
        for line in self.trouble:
            writer.warn(line)
        if self.path is not None:
            writer.write(f"run: {_shortest(self.path)}\n")


def conclude(
    rows: Sequence[Row],
    tasks: Mapping[str, KnownTask],
    measures: Measures,
    folder: RunFolder | None,
    effort: Effort | None,
) -> Conclusion:
    """Return the conclusion of a run, after writing its files.

    What cannot be written costs neither the table nor the gate's result.

    Args:
        rows: complete rows, in memory as they were added to `folder`.
        tasks: by name.
        measures: gate, baseline, replayed run.
        folder: of the run; None if no files are wanted.
        effort: what its calls came to.
    """
    known = tuple(rows) if folder is None else folder.as_stored(rows)
    found = _found(known, tasks, measures)
    if effort is not None and effort.total.requests:
        found = replace(found, engine=effort.to_json())
    trouble = [*_write(found, folder), *_write_step_summary(found)]
    path = None if folder is None else folder.path
    return Conclusion(found=found, path=path, effort=effort, trouble=tuple(trouble))


def _found(rows: tuple[Row, ...], tasks: Mapping[str, KnownTask], measures: Measures) -> Findings:
    infos = {name: task.info for name, task in tasks.items()}
    metrics = {name: task.metrics for name, task in tasks.items()}
    summary = summarise(rows, infos, metrics)
    yardstick, replayed = measures.yardstick, measures.replayed
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
    except Exception as error:  # noqa: BLE001 - the table of a paid run is shown in any case
        return [f"not all files of the run could be written: {type(error).__name__}: {error}"]
    return []


def _write_step_summary(found: Findings) -> list[str]:
    """Write the summary for GitHub Actions, of runs with a gate."""
    if found.gate is None:
        return []
    try:
        write_step_summary(found, os.environ)
    except OSError as error:
        return [f"the step's summary could not be written: {error}"]
    return []


def _shortest(path: Path) -> Path:
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path

"""The end of a run: figures, gate, files, and what the terminal shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_llmeval.plugin.effort import effort_lines
from pytest_llmeval.report.markdown import render_markdown
from pytest_llmeval.report.table import render_gate, render_table
from pytest_llmeval.results.gate import Gate, GateResult, check
from pytest_llmeval.results.metrics import summarise
from pytest_llmeval.results.summary import Summary, TaskInfo

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter

    from pytest_llmeval.engine.statistics import Effort
    from pytest_llmeval.records import Row
    from pytest_llmeval.results.store import RunFolder


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """The figures of a run, the gate's verdict if one was asked for, the place of the files, and what calls came to."""

    summary: Summary
    gate: GateResult | None
    path: Path | None
    effort: Effort | None

    @property
    def gate_failed(self) -> bool:
        """Whether a gate was asked for and not met."""
        return self.gate is not None and not self.gate.passed

    def print(self, reporter: TerminalReporter) -> None:
        """Write table, gate and place of the files to the terminal."""
        writer = reporter._tw  # noqa: SLF001 - pytest's reporter offers no other way to its width and colours
        width, color = max(40, writer.fullwidth), writer.hasmarkup
        reporter.section("LLM benchmark results")
        reporter.write(render_table(self.summary, width=width, color=color))
        if self.gate is not None:
            reporter.write(render_gate(self.gate, width=width, color=color))
        for line in [] if self.effort is None else effort_lines(self.effort):
            reporter.write_line(line)
        if self.path is not None:
            reporter.write_line(f"run: {_shortest(self.path)}")


def conclude(
    rows: Sequence[Row],
    tasks: Mapping[str, TaskInfo],
    gate: Gate | None,
    folder: RunFolder | None,
    effort: Effort | None,
) -> Conclusion:
    """Return the conclusion of a run, its summary written into `folder`."""
    summary = summarise(rows, tasks)
    result = None if gate is None else check(gate, summary)
    if folder is not None:
        engine = None if effort is None or not effort.total.requests else effort.to_json()
        folder.write_summary(summary, render_markdown(summary, result), engine=engine)
    return Conclusion(summary=summary, gate=result, path=None if folder is None else folder.path, effort=effort)


def _shortest(path: Path) -> Path:
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path

"""The findings of a run, and the files that show them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Final

from pytest_llmeval.files.atomic import write_atomically
from pytest_llmeval.records import Json, Row
from pytest_llmeval.report.html import Against, Besides, render_report
from pytest_llmeval.report.markdown import render_markdown
from pytest_llmeval.report.pipelines_csv import pipeline_lines
from pytest_llmeval.report.rows_csv import csv_lines
from pytest_llmeval.results.gate_result import GateResult
from pytest_llmeval.results.pipeline_record import pipeline_table
from pytest_llmeval.results.pipelines import Pipelines, pipelines_of
from pytest_llmeval.results.rescoring import Rescoring
from pytest_llmeval.results.row_texts import Whole, as_it_is
from pytest_llmeval.results.run_files import CSV, PIPELINES, REPORT, SUMMARY, SUMMARY_TEXT
from pytest_llmeval.results.store import RunFiles
from pytest_llmeval.results.stored_run import StoredRun, read_info
from pytest_llmeval.results.summary import Summary
from pytest_llmeval.safety.printable import described


@dataclass(frozen=True, kw_only=True)
class Findings:
    """The findings of a run.

    Attributes:
        rows: all rows, without secrets; those of a run that just ended lack long texts.
        whole: adds them to a row.
        summary: the figures of each task and model.
        gate: the result of the gate; None without one.
        against: the comparison with the baseline; None without one.
        rescoring: what changed because another run's replies were scored again; None if they were
            not.
        engine: statistics of the calls, as JSON.
        remarks: sentences about parts of a stored run that could not be read.
        changed: how the rows of a stored run differ from those of its verdict; empty if they do
            not.
    """

    rows: tuple[Row, ...]
    summary: Summary
    gate: GateResult | None = None
    against: Against | None = None
    rescoring: Rescoring | None = None
    engine: Json = None
    remarks: tuple[str, ...] = ()
    changed: str = ""
    whole: Whole = as_it_is

    @cached_property
    def pipelines(self) -> tuple[Pipelines, ...]:
        """The tasks that asked a model the same questions, compared."""
        return pipelines_of(self.rows, self.summary)

    @property
    def besides(self) -> Besides:
        """What is shown beside the figures."""
        return Besides(
            gate=self.gate, against=self.against, again=self.rescoring, pipelines=self.pipelines
        )

    @property
    def markdown(self) -> str:
        """The findings as Markdown."""
        comparison = None if self.against is None else self.against.comparison
        return render_markdown(self.summary, self.gate, comparison, self.rescoring, self.pipelines)


def write_findings(files: RunFiles, found: Findings) -> tuple[str, ...]:
    """Replace summary.json, summary.md, rows.csv and report.html of a run's folder.

    pipelines.csv too, if tasks asked the same questions. Each is written whatever becomes of the
    others, and left as it was if that fails.

    Returns:
        A sentence for each file that could not be written.
    """
    unwritten = []
    for name, write in _WRITERS.items():
        try:
            write(files, found)
        # Not only OSError: whatever it is, the table of a paid run must be shown.
        except Exception as error:  # noqa: BLE001 - see above
            unwritten.append(f"{name} could not be written: {described(error)}")
    return tuple(unwritten)


def _write_summary(files: RunFiles, found: Findings) -> None:
    gate = None if found.gate is None else found.gate.to_json()
    again = None if found.rescoring is None else found.rescoring.to_json()
    files.json(
        SUMMARY,
        {
            **found.summary.to_json(),
            "pipelines": [pipeline_table(one).to_json() for one in found.pipelines],
            "gate": gate,
            "rescoring": again,
            "engine": found.engine,
        },
    )


def _write_markdown(files: RunFiles, found: Findings) -> None:
    files.text(SUMMARY_TEXT, found.markdown)


def _write_csv(files: RunFiles, found: Findings) -> None:
    files.parts(CSV, csv_lines(found.rows, found.whole))


def _write_pipelines(files: RunFiles, found: Findings) -> None:
    if found.pipelines:
        files.parts(PIPELINES, pipeline_lines(found.pipelines))


def _write_report(files: RunFiles, found: Findings) -> None:
    run = StoredRun(
        path=files.path,
        info=read_info(files.path),
        rows=found.rows,
        remarks=found.remarks,
        whole=found.whole,
    )
    page = render_report(run, found.summary, found.besides)
    # Its texts are without secrets already; a change now could break the hash of its script.
    write_atomically(files.path / REPORT, page)


_WRITERS: Final[Mapping[str, Callable[[RunFiles, Findings], None]]] = MappingProxyType(
    {
        SUMMARY: _write_summary,
        SUMMARY_TEXT: _write_markdown,
        CSV: _write_csv,
        PIPELINES: _write_pipelines,
        REPORT: _write_report,
    }
)
"""What writes each file."""

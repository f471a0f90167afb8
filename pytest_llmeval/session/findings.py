"""What a run leaves behind for people and programs, made from its rows: at its end, or later anew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pytest_llmeval.records import Json, Row
from pytest_llmeval.report.html import Against, write_report
from pytest_llmeval.report.markdown import render_markdown
from pytest_llmeval.report.rows_csv import rows_csv
from pytest_llmeval.results.gate import GateResult
from pytest_llmeval.results.rescoring import Rescoring
from pytest_llmeval.results.store import SUMMARY, SUMMARY_TEXT, RunFiles
from pytest_llmeval.results.summary import Summary

CSV: Final = "rows.csv"
PARQUET: Final = "rows.parquet"


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """A run's rows and figures, the verdict of its gate, the run it is compared with, and what its calls came to.

    `rescoring` tells what changed when another run's replies were scored again.
    """

    rows: tuple[Row, ...]
    summary: Summary
    gate: GateResult | None = None
    against: Against | None = None
    rescoring: Rescoring | None = None
    engine: Json = None


def write_findings(files: RunFiles, found: Findings) -> None:
    """Replace summary.json, summary.md, rows.csv and report.html; OSError when one cannot be written."""
    gate = None if found.gate is None else found.gate.to_json()
    again = None if found.rescoring is None else found.rescoring.to_json()
    files.json(
        SUMMARY,
        {**found.summary.to_json(), "gate": gate, "rescoring": again, "engine": found.engine},
    )
    comparison = None if found.against is None else found.against.comparison
    files.text(
        SUMMARY_TEXT, render_markdown(found.summary, found.gate, comparison, found.rescoring)
    )
    files.text(CSV, rows_csv(found.rows))
    write_report(files.path, gate=found.gate, against=found.against, again=found.rescoring)

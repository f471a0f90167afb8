"""``report.html``: a run in one file that opens from disk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_llmeval.report.address import Addresses
from pytest_llmeval.report.clean import clean
from pytest_llmeval.report.compared import Compared, compared
from pytest_llmeval.report.flipped_ids import flipped_ids
from pytest_llmeval.report.gate_sheet import gate_sheet
from pytest_llmeval.report.overview import entry_names, sections
from pytest_llmeval.report.overview_matrix import overview_matrix
from pytest_llmeval.report.page import render, rendered
from pytest_llmeval.report.page_data import ordered, page_data
from pytest_llmeval.report.pipeline_sheet import pipeline_sections
from pytest_llmeval.report.provenance import provenance, started_text
from pytest_llmeval.report.rescoring_sheet import rescoring_sheet
from pytest_llmeval.report.result_sheets import remarks
from pytest_llmeval.report.scatter import scatter
from pytest_llmeval.report.sheet import Sheet
from pytest_llmeval.report.side import Side
from pytest_llmeval.results.baseline import Baseline
from pytest_llmeval.results.compare import Comparison
from pytest_llmeval.results.gate_result import GateResult
from pytest_llmeval.results.pipelines import Pipelines
from pytest_llmeval.results.rescoring import Rescoring
from pytest_llmeval.results.stored_run import StoredRun
from pytest_llmeval.results.summary import Summary


@dataclass(frozen=True, slots=True, kw_only=True)
class Against:
    """The comparison of a run (b) with a baseline (a)."""

    baseline: Baseline
    comparison: Comparison

    @property
    def name(self) -> str:
        """What the baseline is called."""
        return self.baseline.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Besides:
    """What stands in a report beside the results of the run.

    Attributes:
        gate: the result of a gate.
        against: the comparison with another run.
        again: what changed when another run's replies were scored again.
        pipelines: the tasks that asked the same questions, compared.
    """

    gate: GateResult | None = None
    against: Against | None = None
    again: Rescoring | None = None
    pipelines: Sequence[Pipelines] = ()


def render_report(run: StoredRun, summary: Summary, besides: Besides) -> Iterator[str]:
    """Yield the report of a run as HTML, in parts, below MAX_BYTES for 10,000 rows.

    Args:
        run: with its rows; transcripts and pictures are read from its folder.
        summary: of its rows.
        besides: what is shown with them.
    """
    addresses = Addresses(run.rows)
    side = Side.of_run(run, {entry.task: entry.info for entry in summary.entries})
    data = page_data({"": side}, addresses)
    context = run_context(side, run, summary, besides, addresses)
    return rendered("report.html.jinja", **context, data=data)


def run_context(
    side: Side, run: StoredRun, summary: Summary, besides: Besides, addresses: Addresses
) -> dict[str, Any]:
    """Return what the template of a run's page shows, besides the samples."""
    gate, against, again = besides.gate, besides.against, besides.again
    rows = ordered(run.rows)
    return {
        "title": started_text(run.info),
        "run": run.path.name,
        "rows": len(rows),
        "models": list(dict.fromkeys(clean(row.model) for row in rows)),
        "remarks": [*remarks(summary), *map(clean, run.remarks)],
        "gate": None if gate is None else gate_sheet(gate),
        "gate_passed": gate is not None and gate.passed,
        "provenance": provenance(run.info),
        "matrix": overview_matrix(summary),
        "sections": sections(summary, rows),
        "scatter": scatter(list(zip(entry_names(summary), summary.entries, strict=True))),
        "again": None if again is None else rescoring_sheet(again),
        "against": None if against is None else clean(against.name),
        "compared": None if against is None else _compared(against, side, addresses),
        "pipelines": pipeline_sections(besides.pipelines, addresses),
    }


def _compared(against: Against, side: Side, addresses: Addresses) -> Compared:
    before = Side.of_baseline(against.baseline)
    return compared(against.comparison, before, side, addresses=addresses)


def render_comparison(comparison: Comparison, a: Side, b: Side) -> Iterator[str]:
    """Yield the comparison of two runs as a page, in parts, below MAX_BYTES as a report is."""
    sides = {"a": a, "b": b}
    addresses = Addresses([*a.rows, *b.rows])
    names = {letter: clean(side.name) for letter, side in sides.items()}
    return rendered(
        "comparison.html.jinja",
        title=" and ".join(names.values()),
        sides=[(letter, names[letter], *_made(side)) for letter, side in sides.items()],
        compared=compared(comparison, a, b),
        data=page_data(sides, addresses, {"pairs": flipped_ids(comparison, addresses)}),
    )


def _made(side: Side) -> tuple[str, str]:
    """Return when a side was made, and the models in it."""
    models = ", ".join(dict.fromkeys(clean(row.model) for row in side.rows))
    return "the file of a baseline" if side.info is None else started_text(side.info), models


def render_sheets(title: str, sheets: Sequence[Sheet]) -> str:
    """Return sheets, such as those of several runs side by side, as a page."""
    return render("sheets.html.jinja", title=clean(title), sheets=sheets)

"""``report.html``: a run in one file that opens from disk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from markupsafe import Markup

from pytest_llmeval.records import Json, Row, RowKey
from pytest_llmeval.report.address import Addresses
from pytest_llmeval.report.asked_questions import AskedQuestions, asked_questions
from pytest_llmeval.report.clean import clean
from pytest_llmeval.report.compared import compared
from pytest_llmeval.report.gate_sheet import gate_sheet
from pytest_llmeval.report.natural_order import natural_order
from pytest_llmeval.report.overview import entry_names, sections
from pytest_llmeval.report.pack import Pack, json_text
from pytest_llmeval.report.packed_evidence import pack_evidence
from pytest_llmeval.report.page import render, rendered
from pytest_llmeval.report.pictures import Album
from pytest_llmeval.report.pipeline_sheet import pipeline_sections
from pytest_llmeval.report.provenance import provenance, started_text
from pytest_llmeval.report.rescoring_sheet import rescoring_sheet
from pytest_llmeval.report.result_sheets import remarks
from pytest_llmeval.report.sample_index import sample_index
from pytest_llmeval.report.scatter import scatter
from pytest_llmeval.report.sheet import Sheet
from pytest_llmeval.results.compare import Comparison
from pytest_llmeval.results.gate_result import GateResult
from pytest_llmeval.results.pipelines import Pipelines
from pytest_llmeval.results.rescoring import Rescoring
from pytest_llmeval.results.stored_run import StoredRun
from pytest_llmeval.results.summary import Summary

MAX_BYTES: Final = 25_000_000
"""Size of a report; of what does not fit the path is shown."""

_FRAME: Final = 1_500_000
"""Bytes left for everything but rows, evidence and pictures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Against:
    """The comparison of a run (b) with another one (a), and the name of that."""

    name: str
    comparison: Comparison


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
    rows = sorted(run.rows, key=_order)
    addresses = Addresses(rows)
    data, pack, album = _data(run, rows, summary, addresses)
    return rendered(
        "report.html.jinja",
        **_context(run, rows, summary, besides, addresses),
        data=data,
        chunks=pack.chunks(),
        pictures=album.encoded,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A run of which a page asks a server for evidence, pictures and later rows.

    Attributes:
        run: the run, with its rows.
        places: by key, the place under which a row's evidence is asked for.
        questions: what the samples ask.
        at: the place in the file of rows up to which it was read.
    """

    run: StoredRun
    places: Mapping[RowKey, int]
    questions: AskedQuestions
    at: int


def render_served(served: Served, summary: Summary, besides: Besides) -> Iterator[str]:
    """Yield the same page for a server."""
    rows = sorted(served.run.rows, key=_order)
    addresses = Addresses(rows)
    data = {**served_rows(served, rows, summary, addresses), "at": served.at}
    return rendered(
        "run.html.jinja",
        **_context(served.run, rows, summary, besides, addresses),
        data=Markup(json_text(data)),  # noqa: S704 - json_text escapes it
        chunks=(),
        pictures=(),
    )


def served_overview(served: Served, summary: Summary, besides: Besides) -> str:
    """Return the same page without rows: what is shown of their figures."""
    rows = sorted(served.run.rows, key=_order)
    context = _context(served.run, rows, summary, besides, Addresses(rows))
    return render("run.html.jinja", **context, data="", chunks=(), pictures=())


def served_rows(
    served: Served, rows: Sequence[Row], summary: Summary, addresses: Addresses
) -> dict[str, Json]:
    """Return rows of a served run as the page's data; `addresses` are those of all its rows."""
    places: list[Json] = [[served.places[row.key], 0] for row in rows]
    pictures: dict[str, Json] = {
        image.digest: {"at": image.digest} for image in served.questions.images
    }
    index = sample_index(served.run, rows, summary, served.questions, addresses)
    return {**index, "places": places, "pictures": pictures}


def _context(
    run: StoredRun, rows: Sequence[Row], summary: Summary, besides: Besides, addresses: Addresses
) -> dict[str, Any]:
    """Return what the template of a run's page shows, besides the samples."""
    gate, against, again = besides.gate, besides.against, besides.again
    pairs, others = ((), ()) if against is None else compared(against.comparison, addresses)
    return {
        "title": started_text(run.info),
        "run": run.path.name,
        "rows": len(rows),
        "models": list(dict.fromkeys(clean(row.model) for row in rows)),
        "remarks": [*remarks(summary), *map(clean, run.remarks)],
        "gate": None if gate is None else gate_sheet(gate),
        "gate_passed": gate is not None and gate.passed,
        "provenance": provenance(run.info),
        "sections": sections(summary, rows),
        "scatter": scatter(list(zip(entry_names(summary), summary.entries, strict=True))),
        "again": None if again is None else rescoring_sheet(again),
        "against": None if against is None else clean(against.name),
        "pairs": pairs,
        "others": others,
        "pipelines": pipeline_sections(besides.pipelines, addresses),
    }


def _data(
    run: StoredRun, rows: Sequence[Row], summary: Summary, addresses: Addresses
) -> tuple[Markup, Pack, Album]:
    """Return the table of samples for the page's script, and evidence and pictures that it opens.

    In a function, so that the objects behind the text are gone before the page is put together.
    """
    questions = asked_questions(run)
    index = sample_index(run, rows, summary, questions, addresses)
    room = max(0, MAX_BYTES - _FRAME - len(json_text(index)))
    pack, album = Pack(room * 2 // 3), Album(run.path, room // 3)
    for image in questions.images:
        album.add_with_small(image)
    infos = {entry.task: entry.info for entry in summary.entries}
    places: list[Json] = [
        list(place) if place else None for place in pack_evidence(run, rows, infos, pack, album)
    ]
    text = json_text({**index, "places": places, "pictures": album.index()})
    return Markup(text), pack, album  # noqa: S704 - json_text escapes it


def render_comparison(comparison: Comparison, *, names: tuple[str, str]) -> str:
    """Return a comparison of two runs, called `names`, as a page."""
    pairs, others = compared(comparison)
    a, b = map(clean, names)
    title = f"{a} and {b}"
    return render("comparison.html.jinja", title=title, names=[a, b], pairs=pairs, others=others)


def render_sheets(title: str, sheets: Sequence[Sheet]) -> str:
    """Return sheets, such as those of several runs side by side, as a page."""
    return render("comparison.html.jinja", title=clean(title), names=[], pairs=(), others=sheets)


def _order(row: Row) -> tuple[Any, ...]:
    return row.task, natural_order(row.sample), row.test, row.model, row.epoch

"""The page of a run for a server, which gives evidence, pictures and later rows on request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from pytest_llmeval.records import Json, Row, RowKey
from pytest_llmeval.report.address import Addresses
from pytest_llmeval.report.asked_questions import AskedQuestions
from pytest_llmeval.report.html import Besides, run_context
from pytest_llmeval.report.pack import json_text
from pytest_llmeval.report.page import render, rendered
from pytest_llmeval.report.page_data import PageData, ordered
from pytest_llmeval.report.sample_index import sample_index
from pytest_llmeval.report.side import Side
from pytest_llmeval.results.stored_run import StoredRun
from pytest_llmeval.results.summary import Summary
from pytest_llmeval.results.task_info import TaskInfo

_TEMPLATE = "run.html.jinja"


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
    """Yield the page."""
    rows = ordered(served.run.rows)
    addresses = Addresses(rows)
    data = {**served_rows(served, rows, summary, addresses), "at": served.at}
    text = Markup(json_text(data))  # noqa: S704 - json_text escapes it
    context = _context(served, summary, besides, addresses)
    return rendered(_TEMPLATE, **context, data=PageData(text=text, chunks=(), pictures=()))


def served_overview(served: Served, summary: Summary, besides: Besides) -> str:
    """Return the same page without rows: what is shown of their figures."""
    context = _context(served, summary, besides, Addresses(served.run.rows))
    nothing = PageData(text=Markup(), chunks=(), pictures=())
    return render(_TEMPLATE, **context, data=nothing)


def served_rows(
    served: Served, rows: Sequence[Row], summary: Summary, addresses: Addresses
) -> dict[str, Json]:
    """Return rows of a served run as the page's data; `addresses` are those of all its rows."""
    places: list[Json] = [[served.places[row.key], 0] for row in rows]
    pictures: dict[str, Json] = {
        image.digest: {"at": image.digest} for image in served.questions.images
    }
    index = sample_index(served.run, rows, _infos(summary), served.questions, addresses)
    return {**index, "places": places, "pictures": pictures}


def _context(
    served: Served, summary: Summary, besides: Besides, addresses: Addresses
) -> dict[str, Any]:
    side = Side.of_run(served.run, _infos(summary))
    return run_context(side, served.run, summary, besides, addresses)


def _infos(summary: Summary) -> dict[str, TaskInfo]:
    return {entry.task: entry.info for entry in summary.entries}

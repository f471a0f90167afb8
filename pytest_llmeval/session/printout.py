"""The end of a run as it is printed: a line for each task, or all tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypedDict

from pytest_llmeval.report.comparison_table import comparison_table
from pytest_llmeval.report.rescoring_sheet import short_rescoring_sheet
from pytest_llmeval.report.summary_sheet import only_model
from pytest_llmeval.report.table import (
    render_comparison,
    render_gate,
    render_pipelines,
    render_rescoring,
    render_sheets,
    render_summary,
    render_table,
    render_unmet,
)
from pytest_llmeval.results.run_files import REPORT
from pytest_llmeval.session.effort import effort_line, effort_lines

if TYPE_CHECKING:
    from pytest_llmeval.session.conclusion import Conclusion

NARROWEST = 40
"""Fewest columns for which tables are drawn; a narrower terminal wraps their lines."""

_HEADING = "LLM benchmark results"


class Writer(Protocol):
    """The output of a conclusion, such as a terminal."""

    @property
    def width(self) -> int:
        """Columns of a line."""
        ...

    @property
    def color(self) -> bool:
        """Whether colours are supported."""
        ...

    @property
    def encoding(self) -> str:
        """The encoding of the output: what it does not have is drawn in ASCII forms."""
        ...

    def section(self, title: str) -> None:
        """Write a heading."""
        ...

    def write(self, text: str) -> None:
        """Write text that ends with a line break."""
        ...

    def warn(self, line: str) -> None:
        """Write a line as a warning."""
        ...


class Page(TypedDict):
    """What tables are drawn for; see `report.table`."""

    width: int
    color: bool
    encoding: str


def page_of(writer: Writer) -> Page:
    """Return the page that a writer is."""
    return Page(width=max(NARROWEST, writer.width), color=writer.color, encoding=writer.encoding)


def print_short(ended: Conclusion, writer: Writer) -> None:
    """Print a line for each task, what could mislead, the unmet rules, and where the rest is."""
    found, page = ended.found, page_of(writer)
    model = only_model(found.summary)
    heading = f"{_HEADING} · {model}"
    fits = model and len(heading) + len("=  =") <= writer.width
    writer.section(heading if fits else _HEADING)
    if model and not fits:
        writer.write(f"model: {model}\n")
    writer.write(render_summary(found.summary, **page))
    if found.pipelines:
        sets = f"{len(found.pipelines):,} set{'s' * (len(found.pipelines) > 1)}"
        writer.write(f"pipelines: {sets} of tasks over the same samples, compared in the report\n")
    if found.rescoring is not None:
        writer.write(render_sheets((short_rescoring_sheet(found.rescoring),), **page))
    if found.against is not None:
        title = f"against {found.against.name} (a)"
        writer.write(render_sheets((comparison_table(found.against.comparison, title),), **page))
    if ended.gate is not None:
        writer.write(render_unmet(ended.gate, **page))
    if ended.effort is not None and (line := effort_line(ended.effort)):
        writer.write(f"{line}\n")
    _print_rest(ended, writer)


def print_all(ended: Conclusion, writer: Writer) -> None:
    """Print all tables, with groups, and the statistics of the calls."""
    found, page = ended.found, page_of(writer)
    writer.section(_HEADING)
    writer.write(render_table(found.summary, **page))
    if found.pipelines:
        writer.write(render_pipelines(found.pipelines, **page))
    if found.rescoring is not None:
        writer.write(render_rescoring(found.rescoring, **page))
    if found.against is not None:
        writer.section(f"against {found.against.name}")
        writer.write(render_comparison(found.against.comparison, **page))
    if ended.gate is not None:
        writer.write(render_gate(ended.gate, **page))
    for line in [] if ended.effort is None else effort_lines(ended.effort):
        writer.write(f"{line}\n")
    _print_rest(ended, writer)


def _print_rest(ended: Conclusion, writer: Writer) -> None:
    """Print prices, warnings, and where the report is; the run's folder, if there is none."""
    for line in ended.prices:
        writer.write(f"{line}\n")
    for line in (*ended.unwritten, *ended.remarks):
        writer.warn(line)
    if ended.path is not None:
        place, report = _shortest(ended.path), ended.path / REPORT
        writer.write(f"report: {place / REPORT}\n" if report.is_file() else f"run: {place}\n")


def _shortest(path: Path) -> Path:
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path

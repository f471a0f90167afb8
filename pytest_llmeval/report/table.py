"""The results on a terminal: one table each, however narrow it is."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from pytest_llmeval.report.comparison_sheet import comparison_sheets
from pytest_llmeval.report.doubts import doubts
from pytest_llmeval.report.fit import GAP, fit
from pytest_llmeval.report.gate_sheet import gate_sheet, unmet_sheet
from pytest_llmeval.report.pipeline_sheet import short_pipeline_sheet
from pytest_llmeval.report.rescoring_sheet import rescoring_sheet
from pytest_llmeval.report.result_sheets import origins, remarks, sheets
from pytest_llmeval.report.sample_size_sheet import sample_size_sheet
from pytest_llmeval.report.sheet import Block, Cell, Column, Label, Sheet, Tone
from pytest_llmeval.report.summary_sheet import summary_sheet
from pytest_llmeval.results.compare import Comparison
from pytest_llmeval.results.gate_result import GateResult
from pytest_llmeval.results.pipelines import Pipelines
from pytest_llmeval.results.rescoring import Rescoring
from pytest_llmeval.results.sample_size import SampleSize
from pytest_llmeval.results.summary import Summary
from pytest_llmeval.safety.encodable import encodable

_STYLES: dict[Tone, str] = {
    "plain": "",
    "strong": "bold",
    "quiet": "dim",
    "warning": "yellow",
    "good": "bold green",
    "bad": "bold red",
}

_REPORT = "; see report.html"


def render_summary(summary: Summary, *, width: int, color: bool, encoding: str = "utf-8") -> str:
    """Return a line for each task and model, and what of it could mislead.

    No line is wider than `width` columns (40 or more); that holds for all functions here.
    """
    page = _Page(width, color=color, encoding=encoding, elsewhere=_REPORT)
    page.tell(origins(summary.entries), "warning")
    page.sheet(summary_sheet(summary))
    page.tell(doubts(summary), "warning")
    return page.text


def render_table(summary: Summary, *, width: int, color: bool, encoding: str = "utf-8") -> str:
    """Return all tables of all tasks, with their groups, tokens and notes."""
    page = _Page(width, color=color, encoding=encoding, elsewhere=_REPORT)
    page.tell(remarks(summary), "warning")
    for sheet in sheets(summary):
        page.sheet(sheet)
    return page.text


def render_unmet(result: GateResult, *, width: int, color: bool, encoding: str = "utf-8") -> str:
    """Return whether a gate passed, and the rules that did not."""
    return render_sheets((unmet_sheet(result),), width=width, color=color, encoding=encoding)


def render_gate(result: GateResult, *, width: int, color: bool, encoding: str = "utf-8") -> str:
    """Return a gate's result rule by rule."""
    return render_sheets((gate_sheet(result),), width=width, color=color, encoding=encoding)


def render_comparison(
    comparison: Comparison, *, width: int, color: bool, encoding: str = "utf-8"
) -> str:
    """Return how two runs differ."""
    found = comparison_sheets(comparison)
    return render_sheets(found, width=width, color=color, encoding=encoding)


def render_sample_sizes(  # noqa: PLR0913 - a sheet's parts, and the page's
    title: str,
    note: str,
    sizes: Sequence[SampleSize],
    *,
    width: int,
    color: bool,
    encoding: str = "utf-8",
) -> str:
    """Return what a gate takes."""
    sheet = sample_size_sheet(title, note, sizes)
    return render_sheets((sheet,), width=width, color=color, encoding=encoding)


def render_rescoring(found: Rescoring, *, width: int, color: bool, encoding: str = "utf-8") -> str:
    """Return which scores changed when they were scored again."""
    return render_sheets((rescoring_sheet(found),), width=width, color=color, encoding=encoding)


def render_pipelines(
    pipelines: Sequence[Pipelines], *, width: int, color: bool, encoding: str = "utf-8"
) -> str:
    """Return tasks that asked the same questions."""
    found = [*map(short_pipeline_sheet, pipelines)]
    return render_sheets(found, width=width, color=color, encoding=encoding)


def render_sheets(
    sheets: Sequence[Sheet], *, width: int, color: bool, encoding: str = "utf-8"
) -> str:
    """Return sheets, such as those of runs side by side."""
    page = _Page(width, color=color, encoding=encoding)
    for sheet in sheets:
        page.sheet(sheet)
    return page.text


class _Page:
    """Draws sheets one below the other; the environment changes nothing of it."""

    def __init__(self, width: int, *, color: bool, encoding: str, elsewhere: str = "") -> None:
        """Draw for a terminal; `elsewhere` ends the note that names columns without room."""
        self._width, self._encoding, self._elsewhere = width, encoding, elsewhere
        self._console = Console(
            file=io.StringIO(),
            width=width,
            color_system="standard" if color else None,
            force_terminal=color,
            legacy_windows=False,
            markup=False,
            emoji=False,
            highlight=False,
            _environ={},
        )
        self._console.begin_capture()

    @property
    def text(self) -> str:
        """What was drawn, for once."""
        lines = self._console.end_capture().splitlines()
        return "".join(f"{line.rstrip()}\n" for line in lines)

    def tell(self, lines: Sequence[str], tone: Tone) -> None:
        """Draw lines of text."""
        for line in lines:
            self._console.print(Text(encodable(line, self._encoding), style=_STYLES[tone]))

    def sheet(self, sheet: Sheet) -> None:
        """Draw a sheet: its title, its tables, what of them has no room, its notes."""
        self._title(sheet)
        left_out = self._blocks(sheet.blocks)
        self.tell(sheet.notes, "quiet")
        if sheet.literature:
            self._console.print()
            left_out |= self._blocks(sheet.literature)
        if left_out:
            names = ", ".join(left_out)
            told = f"not shown in {self._width} columns: {names}{self._elsewhere}"
            self.tell((told,), "quiet")

    def _title(self, sheet: Sheet) -> None:
        if not sheet.title:
            return
        if not sheet.blocks and not sheet.notes:  # a line says it all
            self.tell((sheet.title,), sheet.tone)
            return
        title = encodable(sheet.title, self._encoding)
        room = self._width - 4
        if cell_len(title) > room:
            title = set_cell_size(title, room - len(self._dots)).rstrip() + self._dots
        self._console.print()
        rule = encodable("─", self._encoding)
        style = _STYLES[sheet.tone]
        self._console.print(
            Rule(Text(title, style=style), align="left", style="dim", characters=rule)
        )

    def _blocks(self, blocks: Sequence[Block]) -> dict[str, None]:
        """Draw tables with a blank line between; return the names of columns without room."""
        left_out: dict[str, None] = {}
        for place, block in enumerate(blocks):
            if place:
                self._console.print()
            if block.title:
                self.tell((block.title,), "quiet")
            found = fit(self._in_its_signs(block), self._width)
            left_out |= dict.fromkeys(found.left_out)
            self._console.print(self._table(found.columns, found.widths))
        return left_out

    def _table(self, columns: Sequence[Column], widths: Sequence[int]) -> Table:
        table = Table(box=None, padding=(0, 0, 0, GAP), pad_edge=False, header_style="dim")
        for column, width in zip(columns, widths, strict=True):
            head = _shortened(column.head, width, self._dots)
            side = "left" if column.words else "right"
            table.add_column(Text(head), justify=side, width=width, no_wrap=True)  # type: ignore[arg-type]
        for row in zip(*(column.cells for column in columns), strict=True):
            cells = zip(row, widths, strict=True)
            table.add_row(
                *(
                    Text(_shortened(cell.text, width, self._dots), style=_STYLES[cell.tone])
                    for cell, width in cells
                )
            )
        return table

    @property
    def _dots(self) -> str:
        return encodable("…", self._encoding)

    def _in_its_signs(self, block: Block) -> Block:
        """Return a block in the signs of the page's encoding, before it is measured."""

        def signs(text: str) -> str:
            return encodable(text, self._encoding)

        def of_column(column: Column) -> Column:
            cells = (Cell(text=signs(cell.text), tone=cell.tone) for cell in column.cells)
            return replace(column, head=signs(column.head), cells=tuple(cells))

        return Block(
            title=block.title,
            head=block.head,
            labels=tuple(
                Label(text=signs(one.text), indented=one.indented) for one in block.labels
            ),
            units=tuple(tuple(map(of_column, unit)) for unit in block.units),
        )


def _shortened(text: str, width: int, dots: str) -> str:
    """Return a text cut in its middle if it is too long: names of models differ at either end."""
    if cell_len(text) <= width:
        return text
    rest = max(0, width - len(dots))
    tail = rest // 2
    head = set_cell_size(text, rest - tail)
    return head + dots + set_cell_size(text[::-1], tail)[::-1] if rest else dots[:width]

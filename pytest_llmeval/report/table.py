"""The results table on a terminal."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from pytest_llmeval.report.comparison_sheet import comparison_sheets
from pytest_llmeval.report.gate_sheet import gate_sheet
from pytest_llmeval.report.pipeline_sheet import short_pipeline_sheet
from pytest_llmeval.report.rescoring_sheet import rescoring_sheet
from pytest_llmeval.report.result_sheets import remarks, sheets
from pytest_llmeval.report.sample_size_sheet import sample_size_sheet
from pytest_llmeval.report.sheet import Block, Column, Sheet
from pytest_llmeval.results.compare import Comparison
from pytest_llmeval.results.gate_result import GateResult
from pytest_llmeval.results.pipelines import Pipelines
from pytest_llmeval.results.rescoring import Rescoring
from pytest_llmeval.results.sample_size import SampleSize
from pytest_llmeval.results.summary import Summary

_GAP = 2
_INDENT = "  "
_LABEL_SHARE = 3
"""Labels may always take this part of the width."""

_STYLES = {"plain": "", "strong": "bold", "quiet": "dim", "warning": "yellow"}


def render_table(summary: Summary, *, width: int, color: bool) -> str:
    """Return the results table of a run, no line wider than `width` columns (40 or more)."""
    return _drawn(remarks(summary), sheets(summary), width=width, color=color)


def render_gate(result: GateResult, *, width: int, color: bool) -> str:
    """Return a gate's result rule by rule, no line wider than `width` columns (40 or more)."""
    return _drawn((), (gate_sheet(result),), width=width, color=color)


def render_comparison(comparison: Comparison, *, width: int, color: bool) -> str:
    """Return how two runs differ, no line wider than `width` columns (40 or more)."""
    return _drawn((), comparison_sheets(comparison), width=width, color=color)


def render_sample_sizes(
    title: str, note: str, sizes: Sequence[SampleSize], *, width: int, color: bool
) -> str:
    """Return what a gate takes, no line wider than `width` columns (40 or more)."""
    return _drawn((), (sample_size_sheet(title, note, sizes),), width=width, color=color)


def render_rescoring(found: Rescoring, *, width: int, color: bool) -> str:
    """Return which scores changed when they were scored again, in `width` columns (40 or more)."""
    return _drawn((), (rescoring_sheet(found),), width=width, color=color)


def render_pipelines(pipelines: Sequence[Pipelines], *, width: int, color: bool) -> str:
    """Return tasks that asked the same questions, in `width` columns (40 or more)."""
    return _drawn((), list(map(short_pipeline_sheet, pipelines)), width=width, color=color)


def render_sheets(sheets: Sequence[Sheet], *, width: int, color: bool) -> str:
    """Return sheets, such as those of runs side by side, in `width` columns (40 or more)."""
    return _drawn((), sheets, width=width, color=color)


def _drawn(notes: Sequence[str], drawn: Sequence[Sheet], *, width: int, color: bool) -> str:
    # Without the environment: what is drawn depends on the arguments alone.
    console = Console(
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
    with console.capture() as captured:
        for remark in notes:
            console.print(Text(remark, style="yellow"))
        for sheet in drawn:
            _print_sheet(console, sheet)
    return "\n".join(line.rstrip() for line in captured.get().splitlines()) + "\n"


def _print_sheet(console: Console, sheet: Sheet) -> None:
    console.print()
    console.print(Rule(Text(sheet.title, style="bold"), align="left", style="dim"))
    _print_blocks(console, sheet.blocks)
    for note in sheet.notes:
        console.print(Text(note, style="dim"))
    if sheet.literature:
        console.print()
        _print_blocks(console, sheet.literature)


def _print_blocks(console: Console, blocks: Sequence[Block]) -> None:
    """Print blocks with one width of labels and a blank line between all tables."""
    label_width = _label_width(blocks, console.width)
    first = True
    for block in blocks:
        for part, table in enumerate(_tables(block, label_width, console.width - label_width)):
            if not first:
                console.print()
            if block.title and part == 0:
                console.print(Text(block.title, style="dim"))
            console.print(table)
            first = False


def _label_width(blocks: Sequence[Block], width: int) -> int:
    """Return the width of the longest label, within its share of the page or what is left."""
    texts = (_INDENT * label.indented + label.text for block in blocks for label in block.labels)
    columns = max((sum(map(_total, block.units)) for block in blocks), default=0)
    return min(max(map(cell_len, texts), default=0), max(width // _LABEL_SHARE, width - columns))


def _tables(block: Block, label_width: int, room: int) -> Iterator[Table]:
    """Yield the parts of a block; heads break between their words only where the room is short."""
    for columns in _strips(block.units, room):
        whole = [_width(column, broken=False) for column in columns]
        widths = (
            whole if sum(whole) <= room else [_width(column, broken=True) for column in columns]
        )
        yield _table(block, columns, widths, label_width)


def _strips(units: Sequence[tuple[Column, ...]], room: int) -> Iterator[list[Column]]:
    """Yield columns side by side: whole units while they fit, else the columns of one unit."""
    strip: list[Column] = []
    for unit in units:
        parts = [unit] if _total(unit) <= room else [(column,) for column in unit]
        for part in parts:
            if strip and _total([*strip, *part]) > room:
                yield strip
                strip = []
            strip.extend(part)
    if strip:
        yield strip


def _total(columns: Sequence[Column]) -> int:
    return sum(_width(column, broken=True) for column in columns)


def _width(column: Column, *, broken: bool) -> int:
    """Return the width of a column with the gap before it."""
    head = column.head.split() if broken else [column.head]
    return max(cell_len(text) for text in (*head, *(cell.text for cell in column.cells))) + _GAP


def _table(
    block: Block, columns: Sequence[Column], widths: Sequence[int], label_width: int
) -> Table:
    table = Table(box=None, padding=(0, 0, 0, _GAP), pad_edge=False, header_style="dim")
    table.add_column("", width=label_width, no_wrap=True)
    for column, width in zip(columns, widths, strict=True):
        head = Text(column.head, overflow="ellipsis")
        table.add_column(head, justify="right", vertical="bottom", width=width - _GAP)
    for place, label in enumerate(block.labels):
        cells = [column.cells[place] for column in columns]
        table.add_row(
            _shortened(_INDENT * label.indented + label.text, label_width),
            *(
                Text(cell.text, style=_STYLES[cell.tone], no_wrap=True, overflow="ellipsis")
                for cell in cells
            ),
        )
    return table


def _shortened(text: str, width: int) -> Text:
    """Return a label cut in its middle if it is too long: names of models differ at either end."""
    if cell_len(text) <= width:
        return Text(text)
    tail = (width - 1) // 2
    return Text(set_cell_size(text, width - 1 - tail) + "…" + set_cell_size(text[::-1], tail)[::-1])

"""The results as Markdown, for summary.md and a pull request's comment."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from pytest_llmeval.report.comparison_sheet import comparison_sheets
from pytest_llmeval.report.gate_sheet import gate_sheet
from pytest_llmeval.report.pipeline_sheet import pipeline_sheet
from pytest_llmeval.report.rescoring_sheet import rescoring_sheet
from pytest_llmeval.report.result_sheets import remarks, sheets
from pytest_llmeval.report.sheet import Block, Sheet
from pytest_llmeval.results.compare import Comparison
from pytest_llmeval.results.gate_result import GateResult
from pytest_llmeval.results.pipelines import Pipelines
from pytest_llmeval.results.rescoring import Rescoring
from pytest_llmeval.results.summary import Summary

_SIGNS = re.compile(r"([\\`*_{}\[\]#!|~$]|:(?=\S))")
_MENTION = re.compile(r"@(?=\w)")
_BARE_LINK = re.compile(r"(?i)\bwww\.")
_INDENT = "&nbsp;&nbsp;"


def render_markdown(
    summary: Summary,
    gate: GateResult | None = None,
    comparison: Comparison | None = None,
    again: Rescoring | None = None,
    pipelines: Sequence[Pipelines] = (),
) -> str:
    """Return the results of a run as Markdown.

    The gate's result comes first; `comparison` is with a baseline, `again` with the run whose
    answers were scored again;
    `pipelines` are tasks that asked the same questions.
    """
    parts = ["# Results"]
    if found := remarks(summary):
        parts.append("\n".join(f"> {escape(remark)}" for remark in found))
    if gate is not None:
        parts.append(section(gate_sheet(gate)))
    parts += [section(sheet) for sheet in sheets(summary)]
    parts += [section(pipeline_sheet(one)) for one in pipelines]
    if again is not None:
        parts.append(section(rescoring_sheet(again)))
    if comparison is not None:
        parts += ["# Comparison", *map(section, comparison_sheets(comparison))]
    return "\n\n".join(parts) + "\n"


def render_comparison_markdown(comparison: Comparison) -> str:
    """Return how two runs differ."""
    return "\n\n".join(["# Comparison", *map(section, comparison_sheets(comparison))]) + "\n"


def render_sheets_markdown(sheets: Sequence[Sheet]) -> str:
    """Return sheets of a comparison, such as those of several runs side by side."""
    return "\n\n".join(["# Comparison", *map(section, sheets)]) + "\n"


def render_left_out_markdown(comparison: str, lines: Sequence[str]) -> str:
    """Return a comparison that is Markdown already, and below it what was left out of each run."""
    listed = "\n".join(f"- {escape(line)}" for line in lines)
    return f"{comparison}\n## What was compared\n\n{listed}\n"


def escape(text: str) -> str:
    r"""Return one line of text that Markdown shows as it is: without markup, HTML, links, mentions.

    ``<`` and ``&`` become entities, signs that mean something get a backslash; a word joiner keeps
    ``@name`` from notifying anyone.
    """
    plain = _SIGNS.sub(r"\\\1", html.escape(text, quote=False))
    return _BARE_LINK.sub(lambda match: match[0][:-1] + r"\.", _MENTION.sub("@\u2060", plain))


def section(sheet: Sheet) -> str:
    """Return a sheet under its title, if it has one."""
    head = [f"## {escape(sheet.title)}"] if sheet.title else []
    parts = [*head, *map(_table, sheet.blocks)]
    if sheet.notes:
        parts.append("\n".join(f"- {escape(note)}" for note in sheet.notes))
    parts += map(_table, sheet.literature)
    return "\n\n".join(parts)


def _table(block: Block) -> str:
    columns = [column for unit in block.units for column in unit]
    lines = [f"{escape(block.title)}\n"] if block.title else []
    lines += [
        markdown_row(["", *(escape(column.head) for column in columns)]),
        markdown_row([":---", *("---:" for _ in columns)]),
    ]
    for place, label in enumerate(block.labels):
        name = _INDENT * label.indented + escape(label.text)
        lines.append(
            markdown_row([name, *(escape(column.cells[place].text) for column in columns)])
        )
    return "\n".join(lines)


def markdown_row(cells: Sequence[str]) -> str:
    """Return a line of a table; the cells are Markdown already."""
    return f"| {' | '.join(cells)} |"

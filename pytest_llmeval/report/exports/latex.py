"""The figures of a run as LaTeX tables (packages ``booktabs`` and, for other scripts, a font)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from pytest_llmeval.report.clean import clean
from pytest_llmeval.report.entry_name import entry_name
from pytest_llmeval.report.exports.export import Exported, ExportFile
from pytest_llmeval.report.metric_text import is_percent, metric_interval, metric_value
from pytest_llmeval.report.numbers import NONE
from pytest_llmeval.report.result_sheets import origins
from pytest_llmeval.report.task_title import task_title
from pytest_llmeval.results.figures import Figures, Mean
from pytest_llmeval.results.metric import as_value
from pytest_llmeval.results.summary import TaskSummary
from pytest_llmeval.results.task_info import TaskInfo

_ESCAPES: Final = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\{",
        "}": r"\}",
        "$": r"\$",
        "&": r"\&",
        "#": r"\#",
        "%": r"\%",
        "_": r"\_",
        "^": r"\textasciicircum{}",
        "~": r"\textasciitilde{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': r"\char34{}",  # \textquotedbl is not in the encoding that LaTeX starts with
        "'": r"\textquotesingle{}",
        "`": r"\textasciigrave{}",
        # Two hyphens would become a dash, and brackets after a line's end an option of it.
        "-": "-{}",
        "[": "{[}",
        "]": "{]}",
        "*": "{*}",
        "–": "--",
        "…": r"\ldots{}",
    }
)
"""Signs with a meaning of their own, or another shape, in LaTeX."""


def latex_tables(exported: Exported) -> Iterator[ExportFile]:
    r"""Yield ``tables.tex``: one table for each task, with a row for each model.

    Every mean has its 95 % interval. The file is read by ``\input`` in a document that loads
    booktabs; signs outside of ASCII stand as they are, in UTF-8.
    """
    summary = exported.run.summary
    tasks = dict.fromkeys(entry.task for entry in summary.entries)
    parts = [_table([entry for entry in summary.entries if entry.task == task]) for task in tasks]
    head = (
        f"% {clean(exported.run.name)}, by: llmeval export --to latex\n% \\usepackage{{booktabs}}\n"
    )
    yield ExportFile("tables.tex", (head, *parts))


def escaped(text: str) -> str:
    """Return any text as one line of LaTeX that shows it; signs without a shape are left out."""
    return clean(text, limit=1_000).translate(_ESCAPES)


def _table(entries: Sequence[TaskSummary]) -> str:
    means = _columns(entries)
    heads = ["", "Scored", *(escaped(_head(mean, entries[0].info)) for mean in means)]
    lines = [
        [escaped(_name(entry, entries)), _scored(entry.figures)]
        + [_cell(_named(entry.figures, mean.name)) for mean in means]
        for entry in entries
    ]
    caption = f"{escaped(task_title(entries))}, with 95\\,\\% intervals."
    said = [caption, *map(escaped, origins(entries))]
    return "\n".join(
        [
            "",
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{' '.join(said)}}}",
            rf"\begin{{tabular}}{{lr{'l' * len(means)}}}",
            r"\toprule",
            _line(heads),
            r"\midrule",
            *map(_line, lines),
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def _name(entry: TaskSummary, entries: Sequence[TaskSummary]) -> str:
    """Return what differs between the entries, or the model if there is only one."""
    return entry_name(entry, entries) if len(entries) > 1 else entry.model


def _line(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _columns(entries: Sequence[TaskSummary]) -> list[Mean]:
    """Return one mean of each name, in the order of the printed table."""
    found: dict[str, Mean] = {}
    for entry in entries:
        for mean in _means(entry.figures):
            found.setdefault(mean.name, mean)
    return list(found.values())


def _means(figures: Figures) -> tuple[Mean, ...]:
    shares = (as_value(mean, share=True) for mean in figures.shares)
    return (figures.accuracy, *figures.graded, *shares, *figures.further_metrics)


def _named(figures: Figures, name: str) -> Mean | None:
    return next((mean for mean in _means(figures) if mean.name == name), None)


def _head(mean: Mean, info: TaskInfo) -> str:
    name = info.heading(mean.name) if mean.name in info.shares else mean.name
    return name if is_percent(mean) or mean.scale == 1 else f"{name} (0–{mean.scale:g})"


def _scored(figures: Figures) -> str:
    return f"{figures.counts.scored} of {figures.counts.planned}"


def _cell(mean: Mean | None) -> str:
    """Return the value with its interval in brackets."""
    if mean is None or mean.value is None:
        return escaped(NONE)
    value, interval = escaped(metric_value(mean.value, mean)), metric_interval(mean)
    return value if interval == NONE else f"{value} {escaped(f'[{interval}]')}"

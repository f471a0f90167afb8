"""The results of a run as tables: one sheet a task."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pytest_llmeval.report import numbers
from pytest_llmeval.report.clean import clean
from pytest_llmeval.report.confusion_blocks import confusion_blocks
from pytest_llmeval.report.figures_block import figures_block
from pytest_llmeval.report.judging_block import judging_blocks
from pytest_llmeval.report.label_blocks import label_blocks
from pytest_llmeval.report.literature_blocks import literature_blocks
from pytest_llmeval.report.notes import notes
from pytest_llmeval.report.sheet import Sheet
from pytest_llmeval.report.task_title import task_title
from pytest_llmeval.report.use_block import use_block
from pytest_llmeval.results.summary import Summary, TaskSummary


def remarks(summary: Summary) -> tuple[str, ...]:
    """Return where the answers came from, if not from live models of this run, and what follows."""
    said = origins(summary.entries)
    if not said:
        return ()
    return *said, "Tokens, cost and seconds of such answers are those of the time they were made."


def origins(entries: Iterable[TaskSummary]) -> tuple[str, ...]:
    """Return where the answers came from, if not from live models of this run."""
    sets = [entry.figures for entry in entries]
    rows = sum(figures.counts.planned for figures in sets)
    said = []
    if recorded := sum(figures.recorded for figures in sets):
        alone = not any(figures.live for figures in sets)
        share = f"Recorded replies ran in {recorded:,} of {rows:,} rows."
        said.append("Recorded replies ran; no live model did." if alone else share)
    if cached := sum(figures.cached for figures in sets):
        oldest = max((one.oldest for one in sets if one.oldest is not None), default=None)
        said.append(
            f"{cached:,} of {rows:,} rows are cached from other runs"
            + ("." if oldest is None else f", the oldest {numbers.age(oldest)} old.")
        )
    return tuple(said)


def sheets(summary: Summary) -> tuple[Sheet, ...]:
    """Return one sheet a task, in the summary's order."""
    tasks = dict.fromkeys(entry.task for entry in summary.entries)
    return tuple(
        _sheet([entry for entry in summary.entries if entry.task == task]) for task in tasks
    )


def _sheet(entries: Sequence[TaskSummary]) -> Sheet:
    info = entries[0].info
    title = task_title(entries)
    models = {entry.model for entry in entries}
    if len(models) == 1:
        title += f" · {clean(entries[0].model)}"
    if part := _part(entries):
        title += f" · {part}"
    return Sheet(
        title=title,
        blocks=(
            figures_block(entries),
            use_block(entries),
            *label_blocks(entries),
            *confusion_blocks(entries),
            *judging_blocks(entries),
        ),
        notes=notes(entries),
        literature=() if info.demo else tuple(literature_blocks(info, entries[0].figures)),
    )


def _part(entries: Sequence[TaskSummary]) -> str:
    """Return how much of the public dataset ran, "" if all of it; published figures are of all."""
    samples = max(entry.figures.samples for entry in entries)
    whole = entries[0].info.whole
    return f"{samples:,} of {whole:,} samples" if whole is not None and samples < whole else ""

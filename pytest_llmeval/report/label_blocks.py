"""Tables of how many answers have which label."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_llmeval.report.clean import clean
from pytest_llmeval.report.entry_name import entry_name
from pytest_llmeval.report.sheet import Block, Label, column_of
from pytest_llmeval.results.summary import TaskSummary
from pytest_llmeval.results.task_info import TaskInfo


def label_blocks(entries: Sequence[TaskSummary]) -> Iterator[Block]:
    """Yield a table for each detail with labels: a row for each entry that has it."""
    for key in dict.fromkeys(key for entry in entries for key in entry.figures.labels):
        labelled = [entry for entry in entries if key in entry.figures.labels]
        counts = [entry.figures.labels[key] for entry in labelled]
        heads = dict.fromkeys(label for counted in counts for label in counted)
        columns = tuple(
            column_of(clean(head), [f"{counted.get(head, 0):,}" for counted in counts])
            for head in heads
        )
        labels = tuple(Label(text=entry_name(entry, entries)) for entry in labelled)
        yield Block(title=_title(key, entries[0].info), labels=labels, units=(columns,))


def _title(key: str, info: TaskInfo) -> str:
    """Return the heading of a detail, with the meanings of its labels."""
    declared = (one.labels[key] for one in info.displays if key in one.labels)
    meanings = ", ".join(
        f"{clean(label)} = {clean(meaning)}"
        for label, meaning in next(declared, {}).items()
        if label != meaning
    )
    return f"{clean(info.heading(key))}: {meanings}" if meanings else clean(info.heading(key))

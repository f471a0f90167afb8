"""Confusion matrices: of the targets of each class, how many answers name which class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_llmeval.report.clean import clean
from pytest_llmeval.report.entry_name import entry_name
from pytest_llmeval.report.sheet import Block, Label, column_of
from pytest_llmeval.results.summary import TaskSummary

_LONGEST = 20
"""Characters of the name of a class."""


def confusion_blocks(entries: Sequence[TaskSummary]) -> Iterator[Block]:
    """Yield a matrix for each entry of a classification."""
    for entry in entries:
        if not (matrix := entry.figures.confusion):
            continue
        name = entry_name(entry, entries)
        whose = f" · {name}" if len(entries) > 1 else ""
        heads = dict.fromkeys(answer for counts in matrix.values() for answer in counts)
        columns = tuple(
            column_of(clean(head, _LONGEST), [f"{counts[head]:,}" for counts in matrix.values()])
            for head in heads
        )
        yield Block(
            title=f"confusion: targets in rows, answers in columns{whose}",
            labels=tuple(Label(text=clean(target, _LONGEST)) for target in matrix),
            units=(columns,),
        )

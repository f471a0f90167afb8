"""The table of how judged answers were decided."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_llmeval.report import numbers
from pytest_llmeval.report.clean import clean
from pytest_llmeval.report.entry_name import entry_name
from pytest_llmeval.report.sheet import Block, Label, column_of
from pytest_llmeval.results.figures import Agreement
from pytest_llmeval.results.summary import TaskSummary
from pytest_llmeval.results.task_info import Validated


def judging_blocks(entries: Sequence[TaskSummary]) -> Iterator[Block]:
    """Yield the table of a task with judged answers: what decided, and how far judges agree.

    Agreement is with labelled cases, between judges, and between the votes of one judge.
    """
    judged = [
        (entry, entry.figures.judging) for entry in entries if entry.figures.judging is not None
    ]
    if judged:
        labels = tuple(Label(text=entry_name(entry, entries)) for entry, _ in judged)
        found = [judging for _, judging in judged]
        heads = dict.fromkeys(
            ["symbolic", "judge", *(head for judging in found for head in judging.deciders)]
        )
        counts = [[f"{judging.deciders.get(head, 0):,}" for judging in found] for head in heads]
        units = [tuple(map(column_of, map(clean, heads), counts))]
        kappas: dict[str, Sequence[Validated | Agreement | None]] = {
            "judge's kappa": [judging.validation for judging in found],
            "judges' kappa": [judging.agreement for judging in found],
            "votes' kappa": [judging.vote_agreement for judging in found],
        }
        units += [
            (
                column_of(
                    head,
                    [numbers.NONE if one is None else numbers.score(one.kappa, 1) for one in ones],
                ),
            )
            for head, ones in kappas.items()
            if any(ones)
        ]
        yield Block(title="judged scores decided by", labels=labels, units=tuple(units))

"""The summary of a run for a pull request: verdict, what changed, results, and the rest folded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from pytest_llmeval.report import numbers
from pytest_llmeval.report.changed_parts import Room, changed_parts
from pytest_llmeval.report.clean import clean
from pytest_llmeval.report.comparison_sheet import comparison_sheets
from pytest_llmeval.report.gate_sheet import gate_sheet
from pytest_llmeval.report.html import Besides
from pytest_llmeval.report.markdown import escape, markdown_row, section
from pytest_llmeval.report.metric_text import metric_interval
from pytest_llmeval.report.pipeline_sheet import pipeline_sheet
from pytest_llmeval.report.rescoring_sheet import rescoring_sheet
from pytest_llmeval.report.result_sheets import remarks, sheets
from pytest_llmeval.report.sheet import Sheet
from pytest_llmeval.report.task_title import task_title
from pytest_llmeval.results.summary import Summary, TaskSummary

COMMENT: Final = 65_536
"""Characters of a comment on GitHub; here the bytes of its UTF-8, which are never fewer."""

_ROOMS: Final = tuple(
    Room(lines=lines, samples=samples)
    for lines, samples in ((200, 50), (100, 20), (40, 10), (15, 5), (5, 2), (1, 1), (0, 0))
)
"""How much is listed, tried in this order until it fits."""

_LEFT_OUT: Final = "Left out for want of room: {}. They are in summary.md of the run's folder."

_HEADS: Final = (
    "task",
    "model",
    "accuracy",
    "95 %",
    "scored",
    "error",
    "unscored",
    "not run",
    "cost",
)


@dataclass(frozen=True, kw_only=True)
class PullRequest:
    """What a pull request's summary tells.

    Attributes:
        summary: the figures of the run.
        besides: gate, comparison with the baseline, and what else was found.
        questions: excerpts of the questions by task and sample, as far as they are known.
    """

    summary: Summary
    besides: Besides = field(default_factory=Besides)
    questions: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def markdown(self, limit: int) -> str:
        """Return it within `limit` bytes of UTF-8; a note says what was left out.

        Fewer lines are listed first, then folded parts are left out. Below some 2,000 bytes even
        the verdict may be cut, at the end of a line.
        """
        room = limit - len(_bytes(_LEFT_OUT)) - 2 * len(_FOLDED) * max(map(len, _FOLDED))
        head = ""
        for room_of_lists in _ROOMS:
            head = "\n\n".join(self._head(room_of_lists)) + "\n"
            if len(_bytes(head)) <= room:
                break
        return _cut(head + self._folded(room - len(_bytes(head))), limit)

    def _head(self, room: Room) -> Iterator[str]:
        gate = self.besides.gate
        yield f"## {'no gate' if gate is None else escape(gate_sheet(gate).title)}"
        if found := remarks(self.summary):
            yield "\n".join(f"> {escape(remark)}" for remark in found)
        if gate is not None and not gate.passed:
            reasons = gate_sheet(gate).notes
            yield "\n".join(
                [f"- {escape(reason)}" for reason in reasons[: room.lines]]
                + ([f"- and {more:,} more"] if (more := len(reasons) - room.lines) > 0 else [])
            )
        if self.besides.against is not None:
            yield from changed_parts(self.besides.against, self.questions, room)
        yield "## Results"
        yield "\n".join(self._results(room))

    def _results(self, room: Room) -> Iterator[str]:
        entries = self.summary.entries
        yield markdown_row(_HEADS)
        yield markdown_row([":---", ":---", *["---:"] * (len(_HEADS) - 2)])
        for entry in entries[: room.lines]:
            same = [one for one in entries if one.task == entry.task]
            yield markdown_row([*map(escape, _cells(entry, same))])
        if (more := len(entries) - room.lines) > 0:
            yield f"\nand {more:,} more tasks and models"

    def _folded(self, room: int) -> str:
        """Return the rest in parts that open by a click, as far as there is room."""
        parts, lost = [""], []
        for title, found in self._rest():
            body = "\n\n".join(map(section, found))
            part = f"<details><summary>{title}</summary>\n\n{body}\n\n</details>\n"
            size = len(_bytes(part)) + 1
            if size <= room:
                parts.append(part)
                room -= size
            else:
                lost.append(title)
        if lost:
            parts.append(_LEFT_OUT.format(", ".join(lost)) + "\n")
        return "\n".join(parts) if len(parts) > 1 else ""

    def _rest(self) -> Iterator[tuple[str, Sequence[Sheet]]]:
        gate, against, again = self.besides.gate, self.besides.against, self.besides.again
        if gate is not None and gate.results:
            yield _FOLDED[0], [replace(gate_sheet(gate), title="")]
        if against is not None:
            yield _FOLDED[1], comparison_sheets(against.comparison)
        if self.summary.entries:
            yield _FOLDED[2], sheets(self.summary)
        if self.besides.pipelines:
            yield _FOLDED[3], [pipeline_sheet(one) for one in self.besides.pipelines]
        if again is not None:
            yield _FOLDED[4], [rescoring_sheet(again)]


_FOLDED: Final = (
    "The gate, rule by rule",
    "All differences",
    "All figures",
    "Tasks that asked the same questions",
    "Scored again",
)
"""The titles of the folded parts; they are HTML, so that no text of a run may stand in them."""


def _cells(entry: TaskSummary, same: Sequence[TaskSummary]) -> tuple[str, ...]:
    figures, counts = entry.figures, entry.figures.counts
    tests = {one.test for one in same}
    test = f" · {clean(entry.test.rpartition('::')[2])}" if len(tests) > 1 else ""
    return (
        task_title([entry]) + test,
        clean(entry.model),
        numbers.percent(figures.accuracy.value),
        metric_interval(figures.accuracy),
        f"{counts.scored:,} of {counts.planned:,}",
        f"{counts.error:,}",
        f"{counts.unscored:,}",
        f"{counts.not_run:,}",
        numbers.money(figures.usage.cost, at_least=bool(figures.unpriced)),
    )


def _cut(text: str, limit: int) -> str:
    """Return a text cut at the end of a line if it is too long for `limit` bytes."""
    data = _bytes(text)
    if len(data) <= limit:
        return text
    return data[: max(0, data.rfind(b"\n", 0, max(0, limit)) + 1)].decode(errors="ignore")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")

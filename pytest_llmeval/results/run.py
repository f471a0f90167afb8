"""A stored run as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Json, Row, RowKey, Transcript
from pytest_llmeval.results.frame import data_frame
from pytest_llmeval.results.keyed_lines import KeyedLines
from pytest_llmeval.results.row_sequence import RowSequence
from pytest_llmeval.results.run_files import ROWS, SUMMARY, TRANSCRIPTS
from pytest_llmeval.results.stored_run import find_run, read_info, read_summary
from pytest_llmeval.results.summary import Summary

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Run:
    """A stored run as data, for notebooks and scripts: made by `load_run`.

    Rows and transcripts are read from disk whenever they are asked for, so memory does not grow
    with the length of texts. Rows that are appended later, as by a resumed run, are not seen.

        run = load_run("latest")
        wrong = [row for row in run.rows if row.outcome == "incorrect"]
        for call in run.transcripts[wrong[0].key].calls:
            print(call.asked.messages[-1].text, call.reply.text)

    Attributes:
        path: its folder.
        info: its run.json: settings, versions, git state, what is known of each task.
    """

    path: Path
    info: Mapping[str, Json]

    @classmethod
    def open(cls, path: Path) -> Run:
        """Return the run in a folder (see `find_run`); UsageError if there is none."""
        folder = find_run(path)
        return cls(path=folder, info=read_info(folder))

    @property
    def name(self) -> str:
        """The name of its folder, such as ``20261122T081512Z-3fa9c11``."""
        return self.path.name

    @cached_property
    def by_key(self) -> Mapping[RowKey, Row]:
        """The results by ``row.key``."""
        return KeyedLines(self.path / ROWS, Row)

    @cached_property
    def rows(self) -> Sequence[Row]:
        """The results, in the order in which their tests first reported: ``run.rows[0]``.

        ``len(run.rows)`` reads none; UsageError, while they are read, tells of a wrong line.
        """
        return RowSequence(self.by_key)

    @cached_property
    def transcripts(self) -> Mapping[RowKey, Transcript]:
        """What happened for each sample, by ``row.key``: messages, replies, uses of tools.

        Calls of judges are among them; a judge's verdict stands in the details of its row's score.
        A row that was not run has none.
        """
        return KeyedLines(self.path / TRANSCRIPTS, Transcript)

    @cached_property
    def summary(self) -> Summary:
        """The figures by task and model, of summary.json.

        Raises:
            UsageError: there is none, or it is of other rows, as after a kill.
        """
        hint = f"make it from the rows: llmeval report {self.path}"
        if not (self.path / SUMMARY).is_file():
            msg = f"{self.path}: the run has no {SUMMARY}, as it was cut off; {hint}"
            raise UsageError(msg)
        summary = read_summary(self.path)
        counted = sum(entry.figures.counts.planned for entry in summary.entries)
        if counted != len(self.rows):
            msg = (
                f"{self.path}: its {SUMMARY} is of {counted:,} rows, and it has "
                f"{len(self.rows):,}, as it was cut off when it was resumed; {hint}"
            )
            raise UsageError(msg)
        return summary

    def dataframe(self) -> pd.DataFrame:
        """Return a pandas data frame with one line for each row (extra ``dataframe``).

        The columns are those of rows.csv and more: key, outcome, ``correct`` (missing where nothing
        was scored), answer, target, tags, tokens, cost, seconds, ``score:NAME``, ``group:NAME``,
        ``detail:NAME``.

            frame.groupby(["task", "model"], observed=True)["correct"].mean()

        Raises:
            UsageError: pandas is not installed, or a row cannot be read.
        """
        return data_frame(self.rows)

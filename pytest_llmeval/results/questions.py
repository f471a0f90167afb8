"""What the samples of a run ask: ``samples.jsonl``, or the transcripts of an earlier version."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from pytest_llmeval.errors import UsageError
from pytest_llmeval.files.json_lines import read_lines
from pytest_llmeval.records import Image, Message, Record, Row, Transcript
from pytest_llmeval.results.run_files import SAMPLES
from pytest_llmeval.results.stored_run import StoredRun, read_transcripts


class QuestionKey(NamedTuple):
    """The identity of a question: task, sample, and digest of what it asks, "" if unknown."""

    task: str
    sample: str
    question: str


class Question(Record, frozen=True, kw_only=True):
    """What a sample asks, a line of ``samples.jsonl``.

    Attributes:
        task: name of the task.
        sample: id of the sample.
        question: digest of its input, choices and pictures, as in its rows; "" where it is not
            known.
        text: the input, and the choices as they are shown.
        images: the pictures, as they are sent.
    """

    task: str
    sample: str
    question: str
    text: str
    images: tuple[Image, ...] = ()

    @property
    def key(self) -> QuestionKey:
        """The question's identity."""
        return QuestionKey(self.task, self.sample, self.question)


def question_of(row: Row) -> QuestionKey:
    """Return the identity of a row's question."""
    return QuestionKey(row.task, row.sample, row.question)


def read_questions(folder: Path) -> Iterator[Question]:
    """Yield the questions of a run's folder; none for a run of an earlier version.

    Raises:
        UsageError: a line is no question; the message names it.
    """
    file = folder / SAMPLES
    for number, data in read_lines(file, []):
        try:
            yield Question.from_json(data)
        except ValueError as error:
            msg = f"{file}:{number}: not a question: {error}"
            raise UsageError(msg) from error


def questions_of(run: StoredRun) -> Iterator[Question]:
    """Yield the question of each row, each once; none of a row whose sample was never asked.

    Questions that ``samples.jsonl`` lacks are taken from the transcripts: the last message of the
    user in the first call of the solver.
    """
    wanted = {question_of(row) for row in run.rows}
    for question in read_questions(run.path):
        if question.key in wanted:
            wanted.remove(question.key)
            yield question
    if not wanted:
        return
    keys = {row.key: key for row in run.rows if (key := question_of(row)) in wanted}
    for row_key, transcript in read_transcripts(run.path):
        asked = keys.get(row_key)
        if asked in wanted and asked is not None and (message := _asked(transcript)) is not None:
            wanted.remove(asked)
            yield Question(**asked._asdict(), text=message.text, images=message.images)


def _asked(transcript: Transcript) -> Message | None:
    """Return the last message of the user in the solver's first call."""
    calls = (call for call in transcript.calls if call.asked.role == "solver")
    messages = next((call.asked.messages for call in calls), ())
    return next((one for one in reversed(messages) if one.role == "user"), None)

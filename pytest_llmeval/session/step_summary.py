"""A run for people who read a pull request: GitHub's step summary, and a comment's file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from pytest_llmeval.files.redaction import Redactor
from pytest_llmeval.report.pull_request import PullRequest
from pytest_llmeval.results.questions import read_questions
from pytest_llmeval.session.findings import Findings

VARIABLE: Final = "GITHUB_STEP_SUMMARY"
"""The environment variable with the path of the step's summary."""

LIMIT: Final = 1_000_000
"""Bytes at most; GitHub shows no summary of over one mebibyte."""

_LONGER: Final = 64
"""Bytes by which the mark of a redacted secret may be longer than it, with room to spare."""


def write_step_summary(
    found: Findings, folder: Path | None, environment: Mapping[str, str]
) -> None:
    """Append a run's findings to the summary of the running step, if there is one.

    Args:
        found: the findings.
        folder: of the run, which may know its questions; None if it has none.
        environment: values of secret variables are redacted.

    Raises:
        OSError: the file cannot be written.
    """
    if not (name := environment.get(VARIABLE)):
        return
    file = Path(name)
    room = LIMIT - (file.stat().st_size if file.is_file() else 0)
    with file.open("ab") as stream:
        stream.write(pull_request_text(found, folder, environment, room))


def pull_request_text(
    found: Findings, folder: Path | None, environment: Mapping[str, str], limit: int
) -> bytes:
    """Return the summary of a run for a pull request, in `limit` bytes of UTF-8 at most.

    Raises:
        OSError, UsageError: the run's questions cannot be read.
    """
    asked = () if folder is None else read_questions(folder)
    questions = {(one.task, one.sample): one.text for one in asked}
    made = PullRequest(summary=found.summary, besides=found.besides, questions=questions)
    redactor, room = Redactor.of(environment), limit
    while True:
        data = redactor.text(made.markdown(room)).encode("utf-8", "backslashreplace")
        if len(data) <= limit or room <= 0:
            return data if len(data) <= limit else b""
        # What stands in place of a secret may be longer than it.
        room -= len(data) - limit + _LONGER

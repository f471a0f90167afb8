"""The step summary of GitHub Actions: Markdown in the file named by GITHUB_STEP_SUMMARY."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from pytest_llmeval.files.redaction import Redactor
from pytest_llmeval.report.markdown import render_markdown
from pytest_llmeval.session.findings import Findings

VARIABLE: Final = "GITHUB_STEP_SUMMARY"
"""The environment variable with the path of the step's summary."""

LIMIT: Final = 1_000_000
"""Bytes at most; GitHub shows no summary of over one mebibyte."""

_CUT: Final = "\n\n(cut here: summary.md in the run's folder holds the rest)\n"


def write_step_summary(found: Findings, environment: Mapping[str, str]) -> None:
    """Append a run's findings to the summary of the running step, if there is one.

    Values of secret environment variables are redacted.

    Raises:
        OSError: the file cannot be written.
    """
    if not (name := environment.get(VARIABLE)):
        return
    file = Path(name)
    comparison = None if found.against is None else found.against.comparison
    markdown = render_markdown(found.summary, found.gate, comparison, pipelines=found.pipelines)
    data = Redactor.of(environment).text(markdown).encode("utf-8", "backslashreplace")
    room = LIMIT - (file.stat().st_size if file.is_file() else 0) - len(_CUT)
    if len(data) > room:
        # Cut at the end of a line, so that a table stays valid.
        data = data[: max(0, data.rfind(b"\n", 0, max(0, room)))] + _CUT.encode()
    with file.open("ab") as stream:
        stream.write(data)

"""What reaches pytest's reports, the terminal and JUnit XML: printable, cut, without keys."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

import pytest

from pytest_llmeval.errors import LLMEvalError
from pytest_llmeval.safety.printable import LIMIT, printable

MOST: Final = 100_000
"""Characters of a failure's representation, and of one captured section, that are kept at most."""

MOST_LINES: Final = 400
"""Lines of one part of it."""

_LEAST: Final = 200
"""Characters of each text that are kept also when MOST is reached, such as a file's name."""

_STYLE: Final = re.compile(r"(\x1b\[[0-9;]*m)")
"""The sequences by which our own tables are coloured."""

Change = Callable[[str], str]


def clean_report(config: pytest.Config, report: pytest.TestReport) -> None:
    """Make all texts of a report printable, before it is printed, sent or written.

    It is called where the report is made: what is no proper text (half a surrogate pair) could not
    be sent by a worker.
    """
    _change_report(config, report, printable)


def leave_out_hint(call: pytest.CallInfo[None], report: pytest.TestReport) -> None:
    """Leave out pytest's advice to see hidden stack frames, below errors of this package.

    pytest gives it where all frames are hidden, and these are the package's own: the message names
    what the author of a test has to know.
    """
    ours = call.excinfo is not None and isinstance(call.excinfo.value, LLMEvalError)
    # A failure without a traceback is represented by a text.
    if ours and (shown := getattr(report.longrepr, "reprtraceback", None)) is not None:
        shown.extraline = None


def redact_report(config: pytest.Config, report: pytest.TestReport, redact: Change) -> None:
    """Remove keys from all texts of a report, in the process that knows them."""
    _change_report(config, report, lambda text, _=0: redact(text))


def clean_drawing(text: str) -> str:
    """Return what a renderer drew, with colours and line breaks as its only control characters."""
    parts = _STYLE.split(text)
    return "".join(
        part if index % 2 else printable(part, max(1, len(part)))
        for index, part in enumerate(parts)
    )


def _change_report(
    config: pytest.Config, report: pytest.TestReport, change: Callable[..., str]
) -> None:
    report.user_properties = [
        (change(name), change(value) if isinstance(value, str) else value)
        for name, value in report.user_properties
    ]
    report.sections = [
        (change(name), _Printed(change).whole(text, MOST)) for name, text in report.sections
    ]
    if getattr(report, "wasxfail", None):
        report.wasxfail = change(report.wasxfail)
    if report.longrepr is None:
        return
    # Through the form in which xdist sends reports: any other has methods of its own.
    hook = config.hook
    data = hook.pytest_report_to_serializable(config=config, report=report)
    data["longrepr"] = longrepr = _Printed(change).value(data["longrepr"])
    if isinstance(longrepr, dict):
        longrepr = hook.pytest_report_from_serializable(config=config, data=data).longrepr
    report.longrepr = longrepr


class _Printed:
    """Changes the texts in JSON-like values, and cuts them to MOST characters in all."""

    def __init__(self, change: Callable[..., str]) -> None:
        self._change, self._left = change, MOST

    def whole(self, text: str, limit: int) -> str:
        return self._change(text, limit)

    def value(self, value: Any) -> Any:  # noqa: ANN401 - what pytest serializes
        if isinstance(value, str):
            shown = self._change(value, min(LIMIT, max(_LEAST, self._left)))
            self._left -= len(shown)
            return shown
        if isinstance(value, dict):
            return {key: self.value(item) for key, item in value.items()}
        if isinstance(value, tuple):
            return tuple(map(self.value, value))
        if isinstance(value, list):
            return [self.value(item) for item in _cut(value)]
        return value


def _cut(lines: list[Any]) -> list[Any]:
    """Return a list whose lines are cut in the middle, if it is one of lines."""
    more = len(lines) - MOST_LINES
    if more <= 0 or not all(isinstance(line, str) for line in lines):
        return lines
    half = MOST_LINES // 2
    return [*lines[:half], f"… ({more:,} more lines)", *lines[-half:]]

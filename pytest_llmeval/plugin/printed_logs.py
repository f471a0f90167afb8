"""Log lines that pytest shows while tests run (``log_cli``) or writes to a file (``log_file``)."""

from __future__ import annotations

import copy
import logging
from functools import partial
from typing import Final

import pytest

from pytest_llmeval.files.redaction import Redactor
from pytest_llmeval.safety.printable import printable

_HANDLERS: Final = ("log_cli_handler", "log_file_handler")
"""Attributes of pytest's logging plugin."""


def clean_logs(config: pytest.Config, redactor: Redactor) -> None:
    """Make the text of every record that these handlers write printable, and free it of keys.

    The handlers of captured logs stay as they are: their text reaches reports, which are cleaned.
    """
    plugin = config.pluginmanager.getplugin("logging-plugin")
    for name in _HANDLERS:
        handler = getattr(plugin, name, None)
        if isinstance(handler, logging.Handler) and handler.formatter is not None:
            config.add_cleanup(partial(handler.setFormatter, handler.formatter))
            handler.setFormatter(_Cleaned(handler.formatter, redactor))


class _Cleaned(logging.Formatter):
    """Formats a cleaned copy of a record as another formatter does, with that one's colours."""

    def __init__(self, formatter: logging.Formatter, redactor: Redactor) -> None:
        super().__init__()
        self._formatter, self._redactor = formatter, redactor

    def format(self, record: logging.LogRecord) -> str:
        """Return the text of a record; the record itself is left to other handlers as it is."""
        shown = copy.copy(record)
        shown.msg, shown.args = self._shown(record.getMessage()), ()
        if record.exc_info and record.exc_info[0] is not None:
            trace = record.exc_text or self._formatter.formatException(record.exc_info)
            shown.exc_info, shown.exc_text = None, self._shown(trace)
        return self._formatter.format(shown)

    def _shown(self, text: str) -> str:
        return self._redactor.text(printable(text))

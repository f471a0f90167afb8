"""The runs that were looked at last."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Final

from pytest_llmeval.view.runs_folder import RunsFolder
from pytest_llmeval.view.viewed_run import ViewedRun

_MOST: Final = 4
"""Runs that are kept in memory; one of 10,000 rows has tens of megabytes."""


class ViewedRuns:
    """Opens runs, and keeps the last few."""

    def __init__(self, folder: RunsFolder) -> None:
        """View the runs in a folder."""
        self._folder = folder
        self._open: OrderedDict[str, ViewedRun] = OrderedDict()
        self._lock = threading.Lock()

    def open(self, name: str) -> ViewedRun:
        """Return the run called `name`; `Refused` if there is none (any more)."""
        folder = self._folder.run(name)
        with self._lock:
            run = self._open.setdefault(name, ViewedRun(folder))
            self._open.move_to_end(name)
            while len(self._open) > _MOST:
                self._open.popitem(last=False)
        return run

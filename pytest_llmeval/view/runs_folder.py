"""The folder of runs: which there are, and the one way from a name in an address to files."""

from __future__ import annotations

import os
from http import HTTPStatus
from pathlib import Path
from typing import Final

from pytest_llmeval.errors import UsageError
from pytest_llmeval.results.run_files import (
    LABELS,
    LATEST,
    ROWS,
    RUN,
    SAMPLES,
    SUMMARY,
    TRANSCRIPTS,
)
from pytest_llmeval.view.request import Refused

_READ: Final = (RUN, ROWS, TRANSCRIPTS, SUMMARY, LABELS, SAMPLES, "images")
"""What is read of a run, by its name in the run's folder."""


class RunsFolder:
    """A folder of runs, such as ``reports``.

    A run is a folder directly in it that is no link and has a run.json. What is read of it lies in
    the folder of runs too: a run with a link that leads elsewhere is none.
    """

    def __init__(self, path: Path) -> None:
        """Take the folder; UsageError if there is none, or it holds no run."""
        if not path.is_dir():
            msg = f"{path}: there is no such folder; --report DIR names the folder of runs"
            raise UsageError(msg)
        self.path = path.resolve()
        self._looked_at: dict[str, tuple[int, bool]] = {}
        if not self.names():
            msg = f"{path}: holds no run; pytest --llmeval-report {path} makes some"
            raise UsageError(msg)

    def names(self) -> list[str]:
        """Return the names of the runs, the last by name first."""
        with os.scandir(self.path) as entries:
            found = [
                entry.name
                for entry in entries
                if entry.name != LATEST
                and not entry.name.startswith(".")
                and entry.is_dir(follow_symlinks=False)
                and self._is_run(Path(entry.path))
            ]
        return sorted(found, reverse=True)

    def run(self, name: str) -> Path:
        """Return the folder of the run called `name`; `Refused` if there is none.

        The name is looked up among those that there are: it is never a part of a path before.
        """
        if name not in {entry.name for entry in self.path.iterdir()} or not self._is_run(
            folder := self.path / name
        ):
            raise Refused(HTTPStatus.NOT_FOUND, "There is no such run (any more).")
        return folder

    def _is_run(self, folder: Path) -> bool:
        """Whether a folder is a run; it is looked at again when a file comes to it or goes."""
        try:
            changed = folder.lstat().st_mtime_ns
        except OSError:
            return False
        known = self._looked_at.get(folder.name)
        if known is None or known[0] != changed:
            known = changed, self._holds_run(folder)
            self._looked_at[folder.name] = known
        return known[1]

    def _holds_run(self, folder: Path) -> bool:
        return (
            not folder.is_symlink()
            and (folder / RUN).is_file()
            and all(self._is_inside(folder / name) for name in _READ)
        )

    def _is_inside(self, file: Path) -> bool:
        return not file.is_symlink() or file.resolve().is_relative_to(self.path)

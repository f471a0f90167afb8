"""Writes that fail: every write-like call below some folders is noted, and can be let fail."""

from __future__ import annotations

import builtins
import errno
import io
import os
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Self

import pytest

CREATING = frozenset("wax+")
ERRORS = {"fsync": errno.EIO, "open": errno.EROFS}
"""The error of each call; of all others a full disk's."""


class Site(NamedTuple):
    """Where a run writes: the call, and the file's name (without what differs in every run)."""

    call: str
    name: str


@dataclass
class FailingWrites:
    """Notes the calls that write below `folders`, and lets one of them fail.

    Attributes:
        fails: where a call fails; None for nowhere.
        occurrence: which of the calls there it is, from 1.
        for_ever: whether all later calls fail too, as on a full disk.
        on_failure: called once, before the first failure.
        sites: what each call was, in order.
    """

    folders: tuple[Path, ...]
    fails: Site | None = None
    occurrence: int = 1
    for_ever: bool = False
    on_failure: Callable[[], None] = lambda: None
    sites: list[Site] = field(default_factory=list)
    failed: bool = False

    def passes(self, call: str, path: object) -> None:
        """Count a call; OSError when it is to fail."""
        place = Path(os.fsdecode(path)) if isinstance(path, str | bytes | os.PathLike) else None
        if place is None or not any(map(place.absolute().is_relative_to, self.folders)):
            return
        if self._is_to_fail(Site(call, _plain(place))):
            code = ERRORS.get(call, errno.ENOSPC)
            raise OSError(code, os.strerror(code), str(place))

    def passes_sql(self, statement: str) -> None:
        """Count a statement; sqlite3.OperationalError when it is to fail."""
        words = statement.split()
        if words[0] in {"INSERT", "CREATE", "PRAGMA"} and self._is_to_fail(Site("sql", words[0])):
            msg = "database or disk is full"
            raise sqlite3.OperationalError(msg)

    def install(self, patch: pytest.MonkeyPatch) -> None:
        """Put itself before the calls."""
        real_open = io.open

        def opened(file: Any, mode: str = "r", *rest: Any, **more: Any) -> Any:
            if isinstance(file, int) or CREATING.isdisjoint(mode):
                return real_open(file, mode, *rest, **more)
            self.passes("open", file)
            return _File(real_open(file, mode, *rest, **more), file, self)

        patch.setattr(io, "open", opened)
        patch.setattr(builtins, "open", opened)
        for name, position in {"mkdir": 0, "replace": 1, "symlink": 1, "fsync": 0}.items():
            patch.setattr(os, name, self._guarded(name, getattr(os, name), position))
        real_connect, guard = sqlite3.connect, self

        class Connection(sqlite3.Connection):
            def execute(self, statement: str, *rest: Any) -> sqlite3.Cursor:
                guard.passes_sql(statement)
                return super().execute(statement, *rest)

        patch.setattr(
            sqlite3,
            "connect",
            lambda *args, **more: real_connect(*args, **more, factory=Connection),
        )

    def _guarded(self, name: str, real: Callable[..., Any], position: int) -> Callable[..., Any]:
        def call(*args: Any, **more: Any) -> Any:
            path = args[position]
            # Of an open file its name, which is what fsync syncs.
            self.passes(name, Path(f"/proc/self/fd/{path}").readlink() if name == "fsync" else path)
            return real(*args, **more)

        return call

    def _is_to_fail(self, site: Site) -> bool:
        self.sites.append(site)
        if self.failed:
            return self.for_ever
        self.failed = site == self.fails and self.sites.count(site) == self.occurrence
        if self.failed:
            self.on_failure()
        return self.failed


class _File:
    """An open file whose writes are counted."""

    def __init__(self, file: Any, path: Any, guard: FailingWrites) -> None:
        self._file, self._path, self._guard = file, path, guard

    def write(self, data: Any) -> Any:
        self._guard.passes("write", self._path)
        return self._file.write(data)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        self._guard.passes("flush", self._path)
        self._file.flush()

    def truncate(self, size: int | None = None) -> int:
        self._guard.passes("truncate", self._path)
        return int(self._file.truncate(size))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def _plain(place: Path) -> str:
    """Return a file's name without the process's number; "run" for a run's folder."""
    if place.name[:8].isdigit():
        return "run"
    return place.name.removesuffix(f".{os.getpid()}")

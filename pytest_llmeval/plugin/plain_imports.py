"""Imports of this package as Python does them, without pytest's rewriting of assertions.

pytest rewrites the assertions of every module that comes with a plugin. At each import it reads and
hashes the source, to check whether its cached code is still valid, which takes up to a fifth of the
CPU time of a session's start. Failed assertions in this package are for its developers, who need no
rewritten message.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Final

_MODULES: Final = "pytest_llmeval."


class _Finder(MetaPathFinder):
    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return where a module of this package is; None for all others."""
        return PathFinder.find_spec(name, path, target) if name.startswith(_MODULES) else None


def import_plainly() -> Callable[[], None]:
    """Let this package's modules be imported past pytest, and return what ends that."""
    finder = _Finder()
    sys.meta_path.insert(0, finder)
    return lambda: sys.meta_path.remove(finder)

"""Exceptions of users' own functions, told with the line of their file that raised them."""

from __future__ import annotations

import os
import traceback
from pathlib import Path
from types import CodeType, TracebackType
from typing import Final

from pytest_llmeval.safety.printable import described, printable

_PACKAGE: Final = Path(__file__).parents[1]
_LIBRARY: Final = Path(os.__file__).parent
_INSTALLED: Final = frozenset({"site-packages", "dist-packages"})
"""Folders of distributions."""


def described_with_place(error: BaseException, limit: int = 2_000) -> str:
    """Return what `described` does, and the last line of a user's file that led to the exception.

    A user's file is one that belongs neither to this package, nor to Python, nor to an installed
    distribution. Of its path only the name is told, so that rows name no folders of a machine.

    Example: ``KeyError: 'XXX' (convert.py, line 12, in to_eur)``.

    Args:
        error: the exception, as it was caught.
        limit: characters that are kept of its message at most.
    """
    told = described(error, limit)
    # By the class's own attribute, which a subclass may hide.
    raised: TracebackType | None = BaseException.__dict__["__traceback__"].__get__(error)
    users = [
        (frame.f_code, line)
        for frame, line in traceback.walk_tb(raised)
        if _is_users(frame.f_code.co_filename)
    ]
    return f"{told} ({_place(*users[-1])})" if users else told


def _place(code: CodeType, line: int) -> str:
    """Return file, line and function as text."""
    return printable(f"{Path(code.co_filename).name}, line {line}, in {code.co_name}", 200)


def _is_users(name: str) -> bool:
    """Return whether the file of a stack frame is a user's; ``<string>`` and the like are none."""
    file = Path(name)
    return (
        file.is_absolute()
        and not file.is_relative_to(_PACKAGE)
        and not file.is_relative_to(_LIBRARY)
        and _INSTALLED.isdisjoint(file.parts)
    )

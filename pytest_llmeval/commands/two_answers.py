"""What the commands share that compare an answer with a solution in a language of their own."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from pytest_llmeval.commands.console import NO, YES, harmless_line, say
from pytest_llmeval.scoring.syntax_error import AnswerSyntaxError

T = TypeVar("T")

_WINDOW: Final = 60
"""Characters shown before a syntax error, and from it on."""


def parsed_pair(chosen: argparse.Namespace, parse: Callable[[str], T]) -> tuple[T, T] | None:
    """Parse and print answer and solution.

    None when one of them, or both, cannot be parsed; then what is wrong is printed.
    """
    values = []
    for name, text in (("answer", chosen.answer), ("solution", chosen.solution)):
        try:
            values.append(parse(text))
        except AnswerSyntaxError as error:
            say(f"{name}: {error}\n{_excerpt(text, error)}", sys.stderr)
        else:
            say(f"{name:8}  {values[-1]}")
    if len(values) < 2:  # noqa: PLR2004 - an answer and a solution
        return None
    return values[0], values[1]


def say_verdict(differences: Sequence[str]) -> int:
    """Print whether there are differences, and which; return the exit status."""
    say("\n  ".join(["different" if differences else "equal", *differences]))
    return NO if differences else YES


def _excerpt(text: str, error: AnswerSyntaxError) -> str:
    """Return the line around a syntax error, cut to a window, with a caret below the position."""
    line = text.split("\n")[error.line - 1]
    at = error.column - 1
    before = harmless_line(line[max(0, at - _WINDOW) : at])
    return f"  {before}{harmless_line(line[at : at + _WINDOW])}\n  {' ' * len(before)}^"

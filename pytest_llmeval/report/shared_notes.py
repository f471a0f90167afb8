"""Notes of several tasks, of which many say the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

_SHOWN: Final = 4
"""Names that stand in one line."""


def shared_notes(told: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return each note once, with the names of all of which it is told.

    Args:
        told: pairs of name and note.

    Example:
        >>> shared_notes([("a", "no judge"), ("b", "no judge"), ("b", "cut: 2")])
        ('no judge: a, b', 'cut: 2: b')
    """
    names: dict[str, dict[str, None]] = {}
    for name, note in told:
        names.setdefault(note, {})[name] = None
    return tuple(f"{note}: {_listed([*of_note])}" for note, of_note in names.items())


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more:,} more" if more > 0 else "")

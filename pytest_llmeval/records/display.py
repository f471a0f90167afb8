"""What a scorer or a solver declares about how its results are shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Display:
    """What tables and reports show of a scorer's or a solver's details: its attribute `display`.

    `shares`: keys of boolean details that are counted as shares of the scored answers.
    `labels`: by the key of a detail, its values and their headings; counted over all answers.
    `formulas`: answer and target are LaTeX formulas, and shown as such.
    `trees`: key of the detail that holds two edited expression trees.
    `efficiency`: whether to tell how many samples accuracy needs for one sample of this score.
    """

    shares: tuple[str, ...] = ()
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    formulas: bool = False
    trees: str | None = None
    efficiency: bool = False


def display_of(thing: object) -> Display:
    """Return the attribute `display` of a scorer or a solver; the default for one without."""
    found = getattr(thing, "display", None)
    return found if isinstance(found, Display) else Display()

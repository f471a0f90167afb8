"""What a scorer or a solver declares about how its results are shown."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_llmeval.records.record import Record


class Display(Record, frozen=True, kw_only=True):
    """What tables and reports show of a scorer's or a solver's details: its attribute `display`.

    Attributes:
        shares: keys of boolean details that are counted as shares of the scored answers.
        labels: by the key of a detail, its values and their meanings; counted over all answers.
        headings: by the key of a share or a label, what it is called where it is shown; a key
            without one is called by itself.
        formulas: answer and target are LaTeX formulas, and shown as such.
        trees: key of the detail that holds two edited expression trees: ``answer`` and ``target``,
            each a list of nodes in post-order, ``[text, number of children, edit]``.
        efficiency: whether to show how many samples accuracy needs for one sample of this score.
    """

    shares: tuple[str, ...] = ()
    labels: Mapping[str, Mapping[str, str]] = {}
    headings: Mapping[str, str] = {}
    formulas: bool = False
    trees: str | None = None
    efficiency: bool = False


def display_of(thing: object) -> Display:
    """Return the attribute `display` of a scorer or a solver; the default for one without."""
    found = getattr(thing, "display", None)
    return found if isinstance(found, Display) else Display()

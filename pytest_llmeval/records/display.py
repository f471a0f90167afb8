"""How tables and reports show the details of a scorer or a solver."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_llmeval.records.record import Record


class Display(Record, frozen=True, kw_only=True):
    """What tables and reports show of the details of a scorer or a solver.

    A scorer or a solver declares it as its attribute `display`.

    Attributes:
        shares: keys of boolean details, shown as shares of the scored answers.
        labels: for the key of a detail, its values and their meanings; counted over all answers.
        headings: for the key of a share or a label, its heading; by default the key itself.
        formulas: whether answer and target are LaTeX formulas, to be typeset.
        trees: key of the detail that holds two edited expression trees: ``answer`` and ``target``,
            each a list of nodes in post-order, ``[text, number of children, edit]``.
        efficiency: whether to show how many samples accuracy needs for the precision that one
            sample gives under this score.
    """

    shares: tuple[str, ...] = ()
    labels: Mapping[str, Mapping[str, str]] = {}
    headings: Mapping[str, str] = {}
    formulas: bool = False
    trees: str | None = None
    efficiency: bool = False


def display_of(thing: object) -> Display:
    """Return the attribute `display` of a scorer or a solver, or an empty Display without one."""
    found = getattr(thing, "display", None)
    return found if isinstance(found, Display) else Display()

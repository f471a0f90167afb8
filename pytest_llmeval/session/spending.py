"""What a run may spend, by its options."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_llmeval.engine.specs import ModelSpec
from pytest_llmeval.session.settings import Settings

if TYPE_CHECKING:
    from pytest_llmeval.engine.budget import Budget, Price
    from pytest_llmeval.engine.completions import Kept

FREE = frozenset({"replay", "python"})
"""The kinds of models that cost nothing unless they have a price."""


class Spending:
    """The run's budget and its prices."""

    def __init__(self, settings: Settings) -> None:
        """Read the price file; UsageError when it is wrong."""
        from pytest_llmeval.engine.budget import Budget, read_prices  # noqa: PLC0415 - for sessions that ask

        self.prices: dict[str, Price] = (
            read_prices(Path(settings.prices)) if settings.prices else {}
        )
        self._shared = Budget(
            usd=settings.budget, max_tokens=settings.max_tokens_total, prices=self.prices
        )
        self._free = Budget()
        self._limited = settings.budget is not None or settings.max_tokens_total is not None

    def carry_over(self, kept: Iterable[Kept], *, since: float) -> None:
        """Count what a resumed run has spent already: its replies made `since` it first began (s since 1970).

        What came from other runs was paid by them.
        """
        for line in kept if self._limited else ():
            recorded = line.model.startswith("replay/")
            if line.stored.created >= since and not (recorded and line.model not in self.prices):
                self._shared.settle(line.stored.reply.usage, line.model)

    def budget(self, model: ModelSpec) -> Budget:
        """Return the budget that a model's calls count against: none for recordings, unless they have a price.

        The price of a model at an address of its own is the one under its whole spec, else the one
        of its name. UsageError when dollars are limited and the price of a model that costs money
        is not known.
        """
        name = model.bare.label
        if model.text in self.prices:
            self.prices.setdefault(name, self.prices[model.text])
        if model.kind not in FREE:
            self._shared.require_price(name)
        return self._free if model.recorded and name not in self.prices else self._shared

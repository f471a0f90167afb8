"""What a run may spend, by its options."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pytest_llmeval.engine.budget import Budget, budget_of
from pytest_llmeval.engine.prices import Price, read_prices
from pytest_llmeval.engine.replies.stored_reply import StoredReply
from pytest_llmeval.engine.specs import ModelSpec
from pytest_llmeval.session.settings import Settings

FREE = frozenset({"replay", "python"})
"""The kinds of models that cost nothing unless they have a price."""


class Spending:
    """The run's budget and its prices."""

    def __init__(self, settings: Settings) -> None:
        """Read the price file; UsageError when it or the budget is wrong."""
        self.prices: dict[str, Price] = (
            read_prices(Path(settings.prices)) if settings.prices else {}
        )
        usd, tokens = (None, None) if settings.budget is None else budget_of(settings.budget)
        self._shared = Budget(usd=usd, max_tokens=tokens, prices=self.prices)
        self._free = Budget()
        self._limited = settings.budget is not None

    def carry_over(self, stored: Iterable[StoredReply], *, since: float) -> None:
        """Count what a resumed run has spent already.

        That is its replies made `since` it first began (s since 1970); older ones came from other
        runs, which paid for them.
        """
        for one in stored if self._limited else ():
            recorded = one.model.startswith("replay/")
            if one.created >= since and not (recorded and one.model not in self.prices):
                self._shared.settle(one.reply.usage, one.model)

    def budget(self, model: ModelSpec) -> Budget:
        """Return the budget that a model's calls count against: none for recordings without a price.

        The price of a model at an address of its own is the one under its whole spec, else the one
        of its name.

        Raises:
            UsageError: dollars are limited, and the price of a model that costs money is unknown.
        """
        name = model.bare.label
        if model.text in self.prices:
            self.prices.setdefault(name, self.prices[model.text])
        if model.kind not in FREE:
            self._shared.require_price(name)
        return self._free if model.recorded and name not in self.prices else self._shared

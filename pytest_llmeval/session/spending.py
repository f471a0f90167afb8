"""The budget of a run, by its options."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pytest_llmeval.engine.budget import Budget, budget_of
from pytest_llmeval.engine.prices import Price, read_prices
from pytest_llmeval.engine.replies.stored_reply import StoredReply
from pytest_llmeval.engine.specs import ModelSpec
from pytest_llmeval.session.settings import Settings

FREE = frozenset({"replay", "python"})
"""Providers whose models cost nothing unless they have a price."""


class Spending:
    """The budget and the prices of a run.

    Attributes:
        prices: by model label.
    """

    def __init__(self, settings: Settings) -> None:
        """Read the price file; UsageError when it or the budget is invalid."""
        self.prices: dict[str, Price] = (
            read_prices(Path(settings.prices)) if settings.prices else {}
        )
        usd, tokens = (None, None) if settings.budget is None else budget_of(settings.budget)
        self._shared = Budget(usd=usd, max_tokens=tokens, prices=self.prices)
        self._free = Budget()
        self._limited = settings.budget is not None

    def carry_over(self, stored: Iterable[StoredReply], *, since: float) -> None:
        """Count the replies that a resumed run has paid for.

        Args:
            stored: all replies in the run's store.
            since: when the run first began, in seconds since 1970; older replies came from other
                runs.
        """
        for one in stored if self._limited else ():
            recorded = one.model.startswith("replay/")
            if one.created >= since and not (recorded and one.model not in self.prices):
                self._shared.settle(one.reply.usage, one.model)

    def budget(self, model: ModelSpec) -> Budget:
        """Return the budget that a model's calls count against.

        It is unlimited for a recording without a price. The price is the one of the whole spec, as
        typed, else the one of the model's label.

        Raises:
            UsageError: dollars are limited, and the price of a model that costs money is unknown.
        """
        name = model.bare.label
        if model.text in self.prices:
            self.prices.setdefault(name, self.prices[model.text])
        if model.kind not in FREE:
            self._shared.require_price(name)
        return self._free if model.recorded and name not in self.prices else self._shared

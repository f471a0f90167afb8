"""What a run may spend, by its options."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_llmeval.engine.specs import ModelSpec
from pytest_llmeval.settings import Settings

if TYPE_CHECKING:
    from pytest_llmeval.engine.budget import Budget, Price

PAID = frozenset({"openai", "azure"})
"""The kinds of models that cost money unless their price says otherwise."""


class Spending:
    """The run's budget and its prices."""

    def __init__(self, settings: Settings) -> None:
        """Read the price file; UsageError when it is wrong."""
        from pytest_llmeval.engine.budget import Budget, read_prices  # noqa: PLC0415 - for sessions that ask

        self.prices: dict[str, Price] = read_prices(Path(settings.prices)) if settings.prices else {}
        self._shared = Budget(usd=settings.budget, max_tokens=settings.max_tokens_total, prices=self.prices)
        self._free = Budget()

    def budget(self, model: ModelSpec) -> Budget:
        """Return the budget that a model's calls count against: none for recordings, unless they have a price.

        UsageError when dollars are limited and the price of a model that costs money is not known.
        """
        if model.kind in PAID:
            self._shared.require_price(model.label)
        return self._free if model.recorded and model.label not in self.prices else self._shared

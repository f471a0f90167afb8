"""The budget of a run, by its options."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from pytest_llmeval.engine.budget import Budget, budget_of
from pytest_llmeval.engine.prices import Price, Priced, read_prices
from pytest_llmeval.engine.replies.stored_reply import StoredReply
from pytest_llmeval.engine.shipped_prices import shipped_prices
from pytest_llmeval.engine.specs import ModelSpec
from pytest_llmeval.providers.endpoints import SERVICES
from pytest_llmeval.session.settings import Settings

FREE = frozenset({"replay", "python"})
"""Providers whose models cost nothing unless they have a price."""


class Spending:
    """The budget and the prices of a run.

    Attributes:
        prices: by model label.
    """

    def __init__(self, settings: Settings, environ: Mapping[str, str] = os.environ) -> None:
        """Read the price file; UsageError when it or the budget is invalid.

        Args:
            settings: the session's settings.
            environ: the environment's variables, which may name other servers.
        """
        self._environ = environ
        self.prices: dict[str, Price] = (
            read_prices(Path(settings.prices)) if settings.prices else {}
        )
        usd, tokens = (None, None) if settings.budget is None else budget_of(settings.budget)
        self._shared = Budget(usd=usd, max_tokens=tokens, prices=self.prices)
        self._given = dict(self.prices)
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

        It is unlimited for a recording without a price.

        Raises:
            UsageError: dollars are limited, and the price of a model that costs money is unknown.
        """
        name = model.bare.label
        if (priced := self.priced(model)) is not None:
            self.prices.setdefault(name, priced.price)
        if model.kind not in FREE:
            self._shared.require_price(name)
        return self._free if model.recorded and name not in self.prices else self._shared

    def batch_name(self, model: ModelSpec) -> str:
        """Return the name under which the budget has the price of a model's batches."""
        self.budget(model)
        name = f"{model.bare.label} in batches"
        if (price := self.prices.get(model.bare.label)) is not None:
            self.prices.setdefault(name, price.in_batches)
        return name

    def priced(self, model: ModelSpec) -> Priced | None:
        """Return a model's price; None if it is not known.

        It is the one that the price file has for the model at its address, else the one that it has
        for the model's name, else the one in the package's own table: the last only at the
        provider's own address, because another server has prices of its own.
        """
        for name in (model.bare.label, model.text):
            if name in self._given:
                return Priced(self._given[name])
        return shipped_prices().get(model.text) if self._at_home(model) else None

    def _at_home(self, model: ModelSpec) -> bool:
        """Return whether a model is reached at its provider's own address."""
        if (service := SERVICES.get(model.kind)) is None:
            return "base_url" not in model.options
        return service.serves(service.address(model.options, self._environ))

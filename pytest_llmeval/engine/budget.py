"""The limit of a run's spending, in US dollars and in tokens, over all models together."""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from types import MappingProxyType
from typing import Final

from pytest_llmeval.engine.prices import Price
from pytest_llmeval.errors import RunStopped, UsageError
from pytest_llmeval.records import Usage

_NO_PRICES: Final[Mapping[str, Price]] = MappingProxyType({})

_AMOUNT: Final = re.compile(r"\s*(\$?)\s*([0-9][0-9_]*\.?[0-9]*|\.[0-9]+)\s*([A-Za-z$]*)\s*")
_USD: Final = {"usd", "$"}
_TOKENS: Final = {"tok": 1, "ktok": 1_000, "mtok": 1_000_000}


def budget_of(text: str) -> tuple[float | None, int | None]:
    """Return the limits in a text such as ``5usd,2Mtok``: US dollars and tokens, None for none.

    Units are ``usd`` or ``$`` (also in front), ``tok``, ``ktok`` and ``Mtok``, in any case.

    Raises:
        UsageError: the text has another form, or limits the same thing twice.
    """
    usd: float | None = None
    tokens: int | None = None
    for part in text.split(","):
        found = _AMOUNT.fullmatch(part)
        sign, number, unit = found.groups() if found else ("", "0", "")
        unit = (sign + unit).lower()
        amount = float(number)
        if not 0 < amount < math.inf:
            raise _not_a_budget(text)
        if unit in _USD and usd is None:
            usd = amount
        elif unit in _TOKENS and tokens is None and amount * _TOKENS[unit] >= 1:
            tokens = round(amount * _TOKENS[unit])
        else:
            raise _not_a_budget(text)
    return usd, tokens


def _not_a_budget(text: str) -> UsageError:
    form = "US dollars, tokens or both, each once and above 0, such as 5usd, 2Mtok or 5usd,500ktok"
    return UsageError(f"the budget is {text!r}; expected {form}")


class Budget:
    """The run's spending, shared by the models of all roles.

    A request reserves its expected usage before it is sent, and settles for the actual one. If it
    does not fit next to the requests in flight it waits for them, because most use less than
    expected. If it does not fit next to what is spent, the run ends. So the limit is exceeded at
    most by what requests in flight use beyond expectation.
    """

    def __init__(
        self,
        *,
        usd: float | None = None,
        max_tokens: int | None = None,
        prices: Mapping[str, Price] = _NO_PRICES,
    ) -> None:
        """Take the limits (None for none), and the price of each model by its name."""
        self._usd, self._max_tokens, self._prices = usd, max_tokens, prices
        self._stop_message: str | None = None
        self.spent_usd, self.spent_tokens = 0.0, 0
        self._reserved_usd, self._reserved_tokens, self._in_flight = 0.0, 0, 0
        self._returned = asyncio.Event()

    def cost_of(self, usage: Usage, model: str) -> float | None:
        """Return what `usage` costs in US dollars; None when the model has no price."""
        price = self._prices.get(model)
        return None if price is None else price.cost(usage)

    def require_price(self, model: str) -> None:
        """Raise UsageError when dollars are limited and the model has no price."""
        if self._usd is not None and model not in self._prices:
            msg = (
                f"budget: no price is known for {model}; "
                "add it to the file of --llmeval-prices, or limit tokens"
            )
            raise UsageError(msg)

    @asynccontextmanager
    async def reserved(self, expect: Callable[[], Usage], model: str) -> AsyncIterator[None]:
        """Reserve the expected usage of a request while it is in flight, once it fits.

        Args:
            expect: the expected usage; asked again after each wait, because replies correct it.
            model: the model's name.

        Raises:
            RunStopped: the request does not fit next to what is spent.
        """
        while not self._fits(usage := expect(), model):
            await self._returned.wait()
        usd, tokens = self.cost_of(usage, model) or 0.0, usage.total_tokens
        self._reserve(usd, tokens, requests=1)
        try:
            yield
        finally:
            self._reserve(-usd, -tokens, requests=-1)
            self._returned.set()
            self._returned = asyncio.Event()

    def settle(self, usage: Usage, model: str) -> None:
        """Add what a reply used, at the cost that it came with if it has one."""
        self.spent_usd += (self.cost_of(usage, model) if usage.cost is None else usage.cost) or 0.0
        self.spent_tokens += usage.total_tokens

    def _reserve(self, usd: float, tokens: int, *, requests: int) -> None:
        self._in_flight += requests
        self._reserved_tokens += tokens
        # Sums of floats leave a rest, which would stay reserved for ever.
        self._reserved_usd = self._reserved_usd + usd if self._in_flight else 0.0

    def _fits(self, usage: Usage, model: str) -> bool:
        """Return whether a request fits next to those in flight.

        RunStopped when it does not even fit next to what is spent.
        """
        usd, tokens = self.cost_of(usage, model) or 0.0, usage.total_tokens
        if self._stop_message is None:
            self._stop_message = self._overrun(usd, tokens)
        if self._stop_message is not None:
            raise RunStopped(self._stop_message)
        return not (
            self._exceeds_usd(usd + self._reserved_usd)
            or self._exceeds_tokens(tokens + self._reserved_tokens)
        )

    def _exceeds_usd(self, usd: float) -> bool:
        return self._usd is not None and self.spent_usd + usd > self._usd

    def _exceeds_tokens(self, tokens: int) -> bool:
        return self._max_tokens is not None and self.spent_tokens + tokens > self._max_tokens

    def _overrun(self, usd: float, tokens: int) -> str | None:
        if self._exceeds_usd(usd):
            return (
                f"budget of {self._usd:g} USD reached: {self.spent_usd:.4f} spent, about "
                f"{self._reserved_usd:.4f} in flight, and the next request needs about {usd:.4f}"
            )
        if self._exceeds_tokens(tokens):
            return (
                f"limit of {self._max_tokens} tokens reached: {self.spent_tokens} used, about "
                f"{self._reserved_tokens} in flight, and the next request needs about {tokens}"
            )
        return None

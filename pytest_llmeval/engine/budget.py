"""What a run may spend, in US dollars and in tokens, over all its models together."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final, cast

from pytest_llmeval.errors import RunStopped, UsageError
from pytest_llmeval.records import Json, Usage

_NO_PRICES: Final[Mapping[str, Price]] = MappingProxyType({})
_KEYS: Final = ("input", "cached_input", "output")


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """A model's price in US dollars per million tokens.

    Cached input costs as much as other input unless told.
    """

    input: float
    output: float
    cached_input: float | None = None

    def cost(self, usage: Usage) -> float:
        """Return what `usage` costs in US dollars."""
        cached_price = self.input if self.cached_input is None else self.cached_input
        fresh = max(0, usage.input_tokens - usage.cached_tokens)
        return (
            fresh * self.input
            + usage.cached_tokens * cached_price
            + usage.output_tokens * self.output
        ) / 1_000_000


def read_prices(file: Path) -> dict[str, Price]:
    """Return the prices in a YAML file of the form ``openai/gpt-5.1: {input: 1.25, cached_input: 0.125, output: 10}``.

    Models are named as on the command line; numbers are US dollars per million tokens. UsageError
    when the file is missing or of another form.
    """
    import yaml  # noqa: PLC0415 - only a run with a price file pays for it

    try:
        table = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        msg = f"prices: cannot read {file}: {error}"
        raise UsageError(msg) from error
    if not isinstance(table, dict):
        msg = f"prices: {file} holds no table; expected lines such as openai/NAME: {{input: 1.25, output: 10}}"
        raise UsageError(msg)
    return {str(model): _price(file, str(model), entry) for model, entry in table.items()}


def _price(file: Path, model: str, entry: Json) -> Price:
    problem = None
    if not isinstance(entry, dict) or not {"input", "output"} <= entry.keys():
        problem = f"has {entry!r}; expected input, output and maybe cached_input, in US dollars per million tokens"
    elif unknown := entry.keys() - set(_KEYS):
        problem = f"has the unknown key {min(unknown, key=str)!r}; allowed are {', '.join(_KEYS)}"
    elif bad := [key for key, value in entry.items() if not _is_price(value)]:
        problem = f"has {bad[0]}: {entry[bad[0]]!r}; expected a number of at least 0"
    if problem is not None:
        msg = f"prices: {file}: {model} {problem}"
        raise UsageError(msg)
    return Price(**cast("dict[str, float]", entry))


def _is_price(value: Json) -> bool:
    return (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and 0 <= value < float("inf")
    )


class Budget:
    """The run's spending, shared by solver and judge.

    A request reserves its expected usage before it is sent and settles for the real one. One that
    does not fit beside those in flight waits for them: most use less than expected. The first that
    does not fit beside what is spent ends the run for all that follow, so the limit is exceeded at
    most by what requests in flight use beyond expectation.
    """

    def __init__(
        self,
        *,
        usd: float | None = None,
        max_tokens: int | None = None,
        prices: Mapping[str, Price] = _NO_PRICES,
    ) -> None:
        """Take the limits (None: none) and the price of each model, by the name it has on the command line."""
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
            msg = f"budget: no price is known for {model}; add it to the file of --llmeval-prices, or limit tokens"
            raise UsageError(msg)

    @asynccontextmanager
    async def reserved(self, expect: Callable[[], Usage], model: str) -> AsyncIterator[None]:
        """Set the expected usage aside while a request is in flight, once it fits; RunStopped when it never will.

        `expect` is called again after each wait: the replies waited for may have taught better.
        """
        while not self._fits(usage := expect(), model):
            await self._returned.wait()
        usd, tokens = self._weight(usage, model)
        self._reserve(usd, tokens, requests=1)
        try:
            yield
        finally:
            self._reserve(-usd, -tokens, requests=-1)
            self._returned.set()
            self._returned = asyncio.Event()

    def settle(self, usage: Usage, model: str) -> None:
        """Book what a reply used, at the cost it came with if it has one."""
        self.spent_usd += (self.cost_of(usage, model) if usage.cost is None else usage.cost) or 0.0
        self.spent_tokens += usage.total_tokens

    def _weight(self, usage: Usage, model: str) -> tuple[float, int]:
        return self.cost_of(usage, model) or 0.0, usage.total_tokens

    def _reserve(self, usd: float, tokens: int, *, requests: int) -> None:
        self._in_flight += requests
        self._reserved_tokens += tokens
        # Sums of floats leave a rest, which nobody would ever give back.
        self._reserved_usd = self._reserved_usd + usd if self._in_flight else 0.0

    def _fits(self, usage: Usage, model: str) -> bool:
        """Tell whether a request fits beside those in flight; RunStopped when not even beside what is spent."""
        usd, tokens = self._weight(usage, model)
        if self._stop_message is None:
            self._stop_message = self._overrun(usd, tokens)
        if self._stop_message is not None:
            raise RunStopped(self._stop_message)
        return not (
            self._too_dear(usd + self._reserved_usd)
            or self._too_long(tokens + self._reserved_tokens)
        )

    def _too_dear(self, usd: float) -> bool:
        return self._usd is not None and self.spent_usd + usd > self._usd

    def _too_long(self, tokens: int) -> bool:
        return self._max_tokens is not None and self.spent_tokens + tokens > self._max_tokens

    def _overrun(self, usd: float, tokens: int) -> str | None:
        if self._too_dear(usd):
            return (
                f"budget of {self._usd:g} USD reached: {self.spent_usd:.4f} spent, about {self._reserved_usd:.4f} "
                f"in flight, and the next request needs about {usd:.4f}"
            )
        if self._too_long(tokens):
            return (
                f"limit of {self._max_tokens} tokens reached: {self.spent_tokens} used, about {self._reserved_tokens} "
                f"in flight, and the next request needs about {tokens}"
            )
        return None

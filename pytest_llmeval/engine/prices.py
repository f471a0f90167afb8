"""Prices of models, from a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

from pytest_llmeval.errors import TaskError, UsageError
from pytest_llmeval.files.yaml import read_yaml
from pytest_llmeval.records import Json, Usage

MOST: Final = 10**6
"""US dollars per million tokens, at most, so that no cost overflows."""

BATCH: Final = 0.5
"""Factor of the price of requests in batches, where a model's price names none: that of OpenAI,
Azure and Anthropic."""

_KEYS: Final = ("input", "cached_input", "cache_write", "output", "batch")


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """A model's price in US dollars per million tokens.

    Input that is read from a cache, or written to it, costs as much as other input unless
    `cached_input` or `cache_write` is given. In a batch all of it is multiplied by `batch`.
    """

    input: float
    output: float
    cached_input: float | None = None
    cache_write: float | None = None
    batch: float | None = None

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form, in which a price file has it too."""
        figures = ((name, getattr(self, name)) for name in _KEYS)
        return {name: figure for name, figure in figures if figure is not None}

    @property
    def in_batches(self) -> Price:
        """The price of requests that are sent in batches."""
        factor = BATCH if self.batch is None else self.batch

        def reduced(price: float | None) -> float | None:
            return None if price is None else price * factor

        return Price(
            input=self.input * factor,
            output=self.output * factor,
            cached_input=reduced(self.cached_input),
            cache_write=reduced(self.cache_write),
        )

    def cost(self, usage: Usage) -> float:
        """Return what `usage` costs in US dollars."""
        cached = self.input if self.cached_input is None else self.cached_input
        written = self.input if self.cache_write is None else self.cache_write
        fresh = max(0, usage.input_tokens - usage.cached_tokens - usage.cache_write_tokens)
        return (
            fresh * self.input
            + usage.cached_tokens * cached
            + usage.cache_write_tokens * written
            + usage.output_tokens * self.output
        ) / 1_000_000


@dataclass(frozen=True, slots=True)
class Priced:
    """A model's price and where it is from.

    Attributes:
        price: the price.
        as_of: the day of the evidence that the table which comes with the package has for it
            (YYYY-MM-DD); "" for a price in a file of the user's.
    """

    price: Price
    as_of: str = ""


MAX_BYTES: Final = 1_000_000
"""Bytes of a file of prices at most."""


def read_prices(file: Path) -> dict[str, Price]:
    """Return the prices in a YAML file, by model.

    Its lines are such as ``openai/gpt-5.1: {input: 1.25, cached_input: 0.125, output: 10}``, with
    models named as on the command line.

    Raises:
        UsageError: the file is missing or of another form.
    """
    try:
        table = read_yaml(file, max_bytes=MAX_BYTES).value
    except TaskError as error:
        msg = f"prices: {error}"
        raise UsageError(msg) from error
    if not isinstance(table, dict):
        form = "openai/NAME: {input: 1.25, output: 10}"
        msg = f"prices: {file} holds no table; expected lines such as {form}"
        raise UsageError(msg)
    return {str(model): price_of(file, str(model), entry) for model, entry in table.items()}


def price_of(file: Path, model: str, entry: Json) -> Price:
    """Return the price in one entry of a file; UsageError when it is of another form."""
    problem = None
    if not isinstance(entry, dict) or not {"input", "output"} <= entry.keys():
        form = (
            "input, output and maybe cached_input and cache_write, in US dollars per million "
            "tokens, and batch, their factor in batches"
        )
        problem = f"has {entry!r}; expected {form}"
    elif unknown := entry.keys() - set(_KEYS):
        problem = f"has the unknown key {min(unknown, key=str)!r}; allowed are {', '.join(_KEYS)}"
    elif bad := [key for key, value in entry.items() if not _is_price(value)]:
        problem = f"has {bad[0]}: {entry[bad[0]]!r}; expected a number from 0 to {MOST:,}"
    if problem is not None:
        msg = f"prices: {file}: {model} {problem}"
        raise UsageError(msg)
    return Price(**cast("dict[str, float]", entry))


def _is_price(value: Json) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= MOST

"""The prices that come with the package, each with the day that it was read."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from pytest_llmeval.engine.prices import MAX_BYTES, Price, Priced, price_of
from pytest_llmeval.files.yaml import read_yaml

FILE: Final = Path(__file__).parent / "prices.yaml"


@cache
def shipped_prices() -> Mapping[str, Priced]:
    """Return the prices by the model's spec without settings, such as ``openai/gpt-5.1``."""
    table: Any = read_yaml(FILE, max_bytes=MAX_BYTES).value
    return {
        f"{provider}/{name}": Priced(_price(provider, name, entry), as_of=str(group["as_of"]))
        for provider, group in table.items()
        for name, entry in group["models"].items()
    }


def _price(provider: str, name: str, entry: Any) -> Price:  # noqa: ANN401 - JSON
    return price_of(FILE, f"{provider}/{name}", entry)

"""The prices that come with the package, each with the day that it was read."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from pytest_llmeval.engine.prices import MAX_BYTES, Priced, price_of
from pytest_llmeval.files.yaml import read_yaml

FILE: Final = Path(__file__).parent / "prices.yaml"


@cache
def shipped_prices() -> Mapping[str, Priced]:
    """Return the prices by the model's spec without settings, such as ``openai/gpt-5.1``."""
    table: Any = read_yaml(FILE, max_bytes=MAX_BYTES).value
    return {
        f"{provider}/{name}": _priced(f"{provider}/{name}", {"as_of": group["as_of"], **entry})
        for provider, group in table.items()
        for name, entry in group["models"].items()
    }


def _priced(model: str, entry: dict[str, Any]) -> Priced:
    return Priced(as_of=str(entry.pop("as_of")), price=price_of(FILE, model, entry))

"""The prices that come with the package."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
import yaml

from pytest_llmeval.engine.shipped_prices import FILE, shipped_prices

TABLE: Any = yaml.safe_load(FILE.read_text())


def test_every_provider_has_a_day_and_a_source_in_words() -> None:
    for group in TABLE.values():
        assert group.keys() == {"as_of", "source", "models"}
        assert len(group["source"].split()) > 3
        assert "http" not in group["source"]


@pytest.mark.parametrize("model", shipped_prices())
def test_a_price_has_its_own_day_or_its_providers(model: str) -> None:
    provider, _, name = model.partition("/")
    group = TABLE[provider]
    day = group["models"][name].get("as_of", group["as_of"])
    assert isinstance(day, date)
    assert date(2026, 1, 1) <= day <= date(2026, 11, 23)
    assert shipped_prices()[model].as_of == day.isoformat()


def test_a_day_stands_with_a_model_only_where_it_is_another_than_the_providers() -> None:
    for group in TABLE.values():
        assert all(one.get("as_of") != group["as_of"] for one in group["models"].values())


@pytest.mark.parametrize("model", shipped_prices())
def test_a_price_is_one_that_a_provider_could_ask(model: str) -> None:
    price = shipped_prices()[model].price
    assert 0 < price.input < price.output
    # Reading from the cache is cheaper than sending, writing dearer.
    assert price.cached_input is None or 0 < price.cached_input < price.input
    assert price.cache_write is None or price.input < price.cache_write <= 2 * price.input


def test_models_of_four_providers_have_prices() -> None:
    assert {name.partition("/")[0] for name in shipped_prices()} == {
        "openai",
        "anthropic",
        "google",
        "bedrock",
    }


def test_what_is_cached_for_five_minutes_costs_a_quarter_more_at_anthropic() -> None:
    prices = [one.price for name, one in shipped_prices().items() if name.startswith("anthropic")]
    assert all(one.cache_write == pytest.approx(1.25 * one.input) for one in prices)

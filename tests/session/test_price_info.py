"""Where the prices of a run's models come from."""

from __future__ import annotations

from pytest_llmeval.records import Json
from pytest_llmeval.session.price_info import price_lines

PRICES: dict[str, Json] = {
    "anthropic/a": {"input": 1, "output": 5, "as_of": "2026-10-24"},
    "anthropic/b": {"input": 1, "output": 5, "as_of": "2026-10-24"},
    "openai/c": {"input": 1, "output": 5, "as_of": "2026-10-16"},
    "openai/d": {"input": 1, "output": 5, "file": "prices.yaml"},
}


def test_a_line_tells_the_day_of_the_packages_own_prices() -> None:
    (line,) = price_lines(PRICES, {"anthropic/a", "anthropic/b", "openai/c", "openai/d"})
    assert line == (
        "cost: by the package's own prices of 2026-10-16 for openai/c; "
        "2026-10-24 for anthropic/a, anthropic/b (--llmeval-prices FILE sets others)"
    )


def test_nothing_is_said_of_models_that_were_not_asked_or_have_a_file() -> None:
    assert price_lines(PRICES, {"openai/d"}) == []
    assert price_lines(PRICES, set()) == []

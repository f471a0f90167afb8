"""Where the prices of a run's models come from."""

from __future__ import annotations

import pytest

from pytest_llmeval.records import Json
from pytest_llmeval.report.provenance import provenance
from pytest_llmeval.session.price_info import oldest_day, price_lines

PRICES: dict[str, Json] = {
    "anthropic/a": {"input": 1, "output": 5, "as_of": "2026-10-24"},
    "anthropic/b": {"input": 1, "output": 5, "as_of": "2026-10-24"},
    "openai/c": {"input": 1, "output": 5, "as_of": "2026-10-16"},
    "openai/d": {"input": 1, "output": 5, "file": "prices.yaml"},
}


@pytest.mark.parametrize(
    ("asked", "day"),
    [
        ({"anthropic/a", "anthropic/b", "openai/c", "openai/d"}, "2026-10-16"),
        ({"anthropic/a", "anthropic/b", "openai/d"}, "2026-10-24"),
    ],
)
def test_a_line_tells_the_oldest_day_of_the_packages_own_prices_that_were_used(
    asked: set[str], day: str
) -> None:
    (line,) = price_lines(PRICES, asked)
    assert line.startswith(f"cost: by the package's own prices, the oldest of {day} (")


def test_the_oldest_day_is_that_of_all_models_where_none_are_named() -> None:
    assert oldest_day(PRICES) == "2026-10-16"
    assert oldest_day({"openai/d": PRICES["openai/d"]}) is None


def test_the_report_tells_the_oldest_day_and_each_models_own() -> None:
    info: dict[str, Json] = {"prices": PRICES, "prices_as_of": oldest_day(PRICES)}
    told = dict(dict(provenance(info))["prices, dollars per million tokens"])
    assert told["oldest of the package's own"] == "2026-10-16"
    assert told["anthropic/a"] == "input=1, output=5, as_of=2026-10-24"
    assert "oldest of the package's own" not in str(provenance({"prices": PRICES}))


def test_nothing_is_said_of_models_that_were_not_asked_or_have_a_file() -> None:
    assert price_lines(PRICES, {"openai/d"}) == []
    assert price_lines(PRICES, set()) == []

"""Prices from a file, and a budget that ends the run in time."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_llmeval.engine.budget import Budget, Price, read_prices
from pytest_llmeval.errors import RunStopped, UsageError
from pytest_llmeval.records import Usage

PRICES = """\
# US dollars per million tokens
openai/large: {input: 1.25, cached_input: 0.125, output: 10}
azure/small: {input: 0.5, output: 2.0}
"""


def test_a_price_file_gives_the_cost_of_fresh_cached_and_written_tokens(tmp_path: Path) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text(PRICES)
    budget = Budget(prices=read_prices(file))
    usage = Usage(input_tokens=1_000_000, cached_tokens=400_000, output_tokens=200_000, reasoning_tokens=150_000)
    # 0.6 x 1.25 + 0.4 x 0.125 + 0.2 x 10; reasoning tokens are among the output tokens.
    assert budget.cost_of(usage, "openai/large") == pytest.approx(2.8)
    # Without a price for cached tokens: 1 x 0.5 + 0.2 x 2.
    assert budget.cost_of(usage, "azure/small") == pytest.approx(0.9)
    assert budget.cost_of(usage, "openai/other") is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("- openai/m", "holds no table"),
        ("openai/m: 3", "openai/m has 3; expected input, output"),
        ("openai/m: {input: 1}", "expected input, output"),
        ("openai/m: {input: 1, output: 2, outpt: 3}", "unknown key 'outpt'"),
        ("openai/m: {input: 1, output: two}", "has output: 'two'; expected a number"),
        ("openai/m: {input: -1, output: 2}", "has input: -1"),
        ("openai/m: {input: .inf, output: 2}", "has input: inf"),
        ("openai/m: {input: .nan, output: 2}", "has input: nan"),
        ("openai/m: {input: true, output: 2}", "has input: True"),
        ("openai/m: [", "cannot read"),
        ("openai/m: !!python/object/apply:os.system [ls]", "cannot read"),
    ],
)
def test_a_wrong_price_file_is_refused_with_file_and_fix(text: str, problem: str, tmp_path: Path) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text(text)
    with pytest.raises(UsageError) as caught:
        read_prices(file)
    assert problem in str(caught.value)
    assert str(file) in str(caught.value)


def test_a_missing_price_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot read .*none\.yaml"):
        read_prices(tmp_path / "none.yaml")


def dollars(amount: float) -> Usage:
    """Return a usage that costs `amount` at one dollar a million tokens."""
    return Usage(input_tokens=round(amount * 1_000_000))


def test_requests_in_flight_count_by_what_they_are_expected_to_use() -> None:
    budget = Budget(usd=1.0, prices={"m": Price(input=1.0, output=1.0)})
    with (
        budget.reserved(dollars(0.4), "m"),
        budget.reserved(dollars(0.4), "m"),
        pytest.raises(RunStopped, match=r"budget of 1 USD reached: 0.0000 spent, about 0.8000 in flight"),
        budget.reserved(dollars(0.4), "m"),
    ):
        pass


def test_settling_replaces_the_expectation_by_the_real_usage() -> None:
    budget = Budget(usd=1.0, prices={"m": Price(input=1.0, output=1.0)})
    for _ in range(5):
        with budget.reserved(dollars(0.5), "m"):
            budget.settle(dollars(0.1), "m")
    assert budget.spent_usd == pytest.approx(0.5)
    assert budget.spent_tokens == 500_000


def test_a_reached_budget_stays_reached_for_smaller_requests_too() -> None:
    budget = Budget(max_tokens=100)
    with pytest.raises(RunStopped, match="limit of 100 tokens reached: 0 used"), budget.reserved(dollars(1), "m"):
        pass
    with pytest.raises(RunStopped), budget.reserved(Usage(input_tokens=1), "m"):
        pass


def test_a_failed_request_gives_its_reservation_back() -> None:
    budget = Budget(max_tokens=100)
    for _ in range(10):
        with pytest.raises(ZeroDivisionError), budget.reserved(Usage(input_tokens=90), "m"):
            raise ZeroDivisionError
    with budget.reserved(Usage(input_tokens=90), "m"):
        pass


def test_all_models_share_one_budget() -> None:
    budget = Budget(usd=1.0, prices={"solver": Price(input=1.0, output=1.0), "judge": Price(input=2.0, output=2.0)})
    budget.settle(dollars(0.5), "solver")
    budget.settle(dollars(0.2), "judge")
    assert budget.spent_usd == pytest.approx(0.9)
    with pytest.raises(RunStopped), budget.reserved(dollars(0.1), "judge"):
        pass


def test_without_limits_nothing_is_refused_and_no_price_is_needed() -> None:
    budget = Budget()
    budget.require_price("m")
    with budget.reserved(dollars(1e6), "m"):
        budget.settle(dollars(1e6), "m")


def test_a_dollar_limit_needs_a_price_and_a_token_limit_does_not() -> None:
    Budget(max_tokens=5).require_price("openai/m")
    with pytest.raises(UsageError, match="no price is known for openai/m; add it to the file of --llmeval-prices"):
        Budget(usd=5).require_price("openai/m")

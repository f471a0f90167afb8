"""Prices from a file, and a budget that ends the run in time."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

import pytest
from engine.virtual_time import run

from pytest_llmeval.engine.budget import Budget, budget_of
from pytest_llmeval.engine.prices import Price, read_prices
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
    usage = Usage(
        input_tokens=1_000_000,
        cached_tokens=400_000,
        output_tokens=200_000,
        reasoning_tokens=150_000,
    )
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
        ("openai/m: {input: .inf, output: 2}", ":1: '.inf' is not a decimal number"),
        ("openai/m: {input: .nan, output: 2}", ":1: '.nan' is not a decimal number"),
        ("openai/m: {input: 012, output: 2}", ":1: '012' is not a decimal number"),
        (
            "openai/m: {input: 1, output: 2}\nopenai/m: {input: 2, output: 2}\n",
            ":2: the key 'openai/m' is repeated",
        ),
        ("openai/m: {input: true, output: 2}", "has input: True"),
        ("openai/m: [", "prices.yaml:2: "),
        ("openai/m: !!python/object/apply:os.system [ls]", "the tag"),
    ],
)
def test_a_wrong_price_file_is_refused_with_file_and_fix(
    text: str, problem: str, tmp_path: Path
) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text(text)
    with pytest.raises(UsageError) as caught:
        read_prices(file)
    assert problem in str(caught.value)
    assert str(file) in str(caught.value)


def test_a_missing_price_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"prices: .*none\.yaml: cannot be read: No such file"):
        read_prices(tmp_path / "none.yaml")


def dollars(amount: float) -> Usage:
    """Return a usage that costs `amount` at one dollar a million tokens."""
    return Usage(input_tokens=round(amount * 1_000_000))


async def spend(
    budget: Budget, amount: float, model: str = "m", *, expected: float | None = None
) -> None:
    """Ask for a request that takes a second and uses `amount`, which is expected unless told."""
    async with budget.reserved(lambda: dollars(amount if expected is None else expected), model):
        await asyncio.sleep(1)
        budget.settle(dollars(amount), model)


def test_what_does_not_fit_beside_the_requests_in_flight_waits_for_them() -> None:
    async def main() -> float:
        budget = Budget(usd=1.0, prices={"m": Price(input=1.0, output=1.0)})
        start = asyncio.get_running_loop().time()
        # Two at a time by expectation; all of them come to a tenth of the limit.
        await asyncio.gather(*(spend(budget, 0.01, expected=0.4) for _ in range(10)))
        assert budget.spent_usd == pytest.approx(0.1)
        return asyncio.get_running_loop().time() - start

    assert run(main()) == pytest.approx(5)


def test_who_waits_is_reckoned_anew_by_what_was_learned_meanwhile() -> None:
    async def main() -> float:
        budget, seen = Budget(max_tokens=100), [90]

        async def send() -> None:
            async with budget.reserved(lambda: Usage(output_tokens=seen[-1]), "m"):
                await asyncio.sleep(1)
                budget.settle(Usage(output_tokens=5), "m")
                seen.append(5)

        start = asyncio.get_running_loop().time()
        await asyncio.gather(*(send() for _ in range(10)))
        return asyncio.get_running_loop().time() - start

    # One alone, then all others together.
    assert run(main()) == pytest.approx(2)


def test_the_run_ends_when_the_requests_waited_for_leave_too_little() -> None:
    async def main() -> list[BaseException | None]:
        budget = Budget(usd=1.0, prices={"m": Price(input=1.0, output=1.0)})
        spending = (spend(budget, 0.4) for _ in range(6))
        return await asyncio.gather(*spending, return_exceptions=True)

    outcomes = run(main())
    assert outcomes[:2] == [None, None]
    assert {type(outcome) for outcome in outcomes[2:]} == {RunStopped}
    assert str(outcomes[2]).startswith(
        "budget of 1 USD reached: 0.8000 spent, about 0.0000 in flight"
    )


def test_settling_replaces_the_expectation_by_the_real_usage() -> None:
    async def main() -> None:
        budget = Budget(usd=1.0, prices={"m": Price(input=1.0, output=1.0)})
        for _ in range(5):
            await spend(budget, 0.1, expected=0.5)
        assert budget.spent_usd == pytest.approx(0.5)
        assert budget.spent_tokens == 500_000

    run(main())


def test_a_reached_budget_stays_reached_for_smaller_requests_too() -> None:
    async def main() -> None:
        budget = Budget(max_tokens=100)
        with pytest.raises(RunStopped, match="limit of 100 tokens reached: 0 used"):
            await spend(budget, 1)
        with pytest.raises(RunStopped):
            await spend(budget, 0.000001)

    run(main())


def test_of_two_limits_the_one_that_is_reached_is_told() -> None:
    async def main() -> None:
        budget = Budget(usd=1.0, max_tokens=100, prices={"m": Price(input=1.0, output=1.0)})
        budget.settle(Usage(input_tokens=150), "m")
        with pytest.raises(RunStopped, match="limit of 100 tokens reached: 150 used"):
            await spend(budget, 0.000001)

    run(main())


def test_a_failed_request_gives_its_reservation_back() -> None:
    async def main() -> None:
        budget = Budget(usd=1.0, prices={"m": Price(input=1.0, output=1.0)})
        for amount in (0.1, 0.2, 0.7, 1.0):
            with pytest.raises(ZeroDivisionError):
                async with budget.reserved(partial(dollars, amount), "m"):
                    raise ZeroDivisionError
        await spend(budget, 1.0)

    run(main())


def test_all_models_share_one_budget() -> None:
    async def main() -> None:
        prices = {"solver": Price(input=1.0, output=1.0), "judge": Price(input=2.0, output=2.0)}
        budget = Budget(usd=1.0, prices=prices)
        budget.settle(dollars(0.5), "solver")
        budget.settle(dollars(0.2), "judge")
        assert budget.spent_usd == pytest.approx(0.9)
        with pytest.raises(RunStopped):
            await spend(budget, 0.1, "judge")

    run(main())


def test_without_limits_nothing_is_refused_and_no_price_is_needed() -> None:
    budget = Budget()
    budget.require_price("m")
    run(spend(budget, 1e6))


def test_a_dollar_limit_needs_a_price_and_a_token_limit_does_not() -> None:
    Budget(max_tokens=5).require_price("openai/m")
    with pytest.raises(
        UsageError, match="no price is known for openai/m; add it to the file of --llmeval-prices"
    ):
        Budget(usd=5).require_price("openai/m")


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("5usd", (5.0, None)),
        ("$2.50", (2.5, None)),
        ("0.5$", (0.5, None)),
        ("5usd,2Mtok", (5.0, 2_000_000)),
        ("500ktok, 1 USD", (1.0, 500_000)),
        ("1_000_000tok", (None, 1_000_000)),
        ("1.5mtok", (None, 1_500_000)),
    ],
)
def test_a_budget_is_dollars_tokens_or_both(
    text: str, limits: tuple[float | None, int | None]
) -> None:
    assert budget_of(text) == limits


@pytest.mark.parametrize(
    "text",
    ["", "5", "usd", "0usd", "-1usd", "5eur", "1usd,2usd", "1tok,1ktok", "0.1tok", "$5usd", "nan$"],
)
def test_what_is_no_budget_is_refused_with_its_text_and_the_form(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        budget_of(text)
    assert f"the budget is {text!r}; expected US dollars, tokens or both" in str(caught.value)
    assert "such as 5usd, 2Mtok or 5usd,500ktok" in str(caught.value)

"""Whose price a model has."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_llmeval.engine.specs import parse_spec
from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Usage
from pytest_llmeval.session.settings import Settings
from pytest_llmeval.session.spending import Spending

MILLION = Usage(input_tokens=1_000_000, cached_tokens=500_000)
THERE = "openai/m,base_url=http://x/v1"


@pytest.fixture
def cost(tmp_path: Path) -> object:
    """Return a function: the cost of a million tokens, half of them cached, by a price file."""

    def cost(spec: str, prices: str) -> float | None:
        (tmp_path / "prices.yaml").write_text(prices)
        (tmp_path / "replies.jsonl").touch()
        model = parse_spec(spec, folder=tmp_path)
        settings = Settings(budget="1usd", prices=str(tmp_path / "prices.yaml"))
        return Spending(settings).budget(model).cost_of(MILLION, model.bare.label)

    return cost


@pytest.mark.parametrize(
    ("spec", "prices", "dollars"),
    [
        ("openai/m", "openai/m: {input: 2, output: 9}", 2.0),
        ("openai/m", "openai/m: {input: 2, cached_input: 1, output: 9}", 1.5),
        ("openai/m,temperature=0", "openai/m: {input: 2, output: 9}", 2.0),
        (THERE, "openai/m: {input: 2, output: 9}", 2.0),
        (
            f"{THERE},temperature=0",
            f"openai/m: {{input: 2, output: 9}}\n'{THERE}': {{input: 0, output: 0}}",
            0.0,
        ),
        ("python/../x:f", "openai/m: {input: 2, output: 9}", None),
        ("replay/replies.jsonl", "openai/m: {input: 2, output: 9}", None),
    ],
    ids=[
        "its name",
        "cached",
        "settings",
        "address",
        "address of its own",
        "function",
        "recording",
    ],
)
def test_a_model_costs_what_its_name_or_its_own_address_does(
    cost: object, tmp_path: Path, spec: str, prices: str, dollars: float | None
) -> None:
    (tmp_path.parent / "x").touch()
    assert callable(cost)
    assert cost(spec, prices) == dollars


@pytest.mark.parametrize("spec", ["openai/other", "azure/m", "openai/m2,temperature=0"])
def test_with_a_budget_a_model_without_a_price_is_refused(cost: object, spec: str) -> None:
    assert callable(cost)
    with pytest.raises(
        UsageError, match=f"no price is known for {spec.partition(',')[0]}; add it to the file"
    ):
        cost(spec, "openai/m: {input: 2, output: 9}")


@pytest.mark.parametrize(
    ("spec", "environ", "tables"),
    [
        ("anthropic/claude-haiku-4-5", {}, 1),
        ("anthropic/claude-haiku-4-5,temperature=0,cache=off", {}, 1),
        ("openai/gpt-5.1,base_url=https://eu.api.openai.com/v1", {}, 1),
        ("openai/gpt-5.1", {}, 1),
        ("openai/gpt-5.1-2025-11-13", {}, 0),
        ("openai/no-such-model", {}, 0),
        ("openai/gpt-5.1,base_url=http://localhost:8000/v1", {}, 0),
        ("openai/gpt-5.1", {"OPENAI_BASE_URL": "http://localhost:8000/v1"}, 0),
        ("anthropic/claude-haiku-4-5", {"ANTHROPIC_BASE_URL": "http://localhost:1"}, 0),
        ("azure/gpt-5.1", {}, 0),
    ],
)
def test_the_packages_own_table_counts_at_the_providers_own_address(
    tmp_path: Path, spec: str, environ: dict[str, str], tables: int
) -> None:
    model = parse_spec(spec, folder=tmp_path)
    spending = Spending(Settings(), environ)
    priced = spending.priced(model)
    assert (priced is not None) == bool(tables)
    assert priced is None or priced.as_of.startswith("2026-")
    cost = spending.budget(model).cost_of(MILLION, model.bare.label)
    assert (cost is not None) == bool(tables)


def test_a_file_goes_before_the_packages_own_table_model_by_model(tmp_path: Path) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text("openai/gpt-5.1: {input: 7, output: 9}\n")
    spending = Spending(Settings(prices=str(file)), {})

    def priced(spec: str) -> tuple[float, bool]:
        found = spending.priced(parse_spec(spec, folder=tmp_path))
        assert found is not None
        return found.price.input, bool(found.as_of)

    assert priced("openai/gpt-5.1") == (7, False)
    assert priced("openai/gpt-5.2") == (1.75, True)

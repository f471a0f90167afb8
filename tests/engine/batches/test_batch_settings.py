"""What ``--llmeval-batch`` may say, and what a price in batches is."""

from __future__ import annotations

import pytest

from pytest_llmeval.engine.batches.settings import BatchSettings, batch_settings_of
from pytest_llmeval.engine.prices import Price
from pytest_llmeval.errors import UsageError
from pytest_llmeval.records import Usage


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("on", BatchSettings()),
        ("off", None),
        ("wait=0", BatchSettings(wait=0.0)),
        ("wait=12h", BatchSettings(wait=43_200.0)),
        ("deadline=2d,poll=10,wait=1m", BatchSettings(wait=60.0, deadline=172_800.0, poll=10.0)),
    ],
)
def test_a_value_says_how_batches_are_waited_for(text: str, expected: BatchSettings | None) -> None:
    assert batch_settings_of(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", "yes", "benchmarks/", "wait", "wait=", "wait=-1", "wait=0,wait=1", "poll=0", "gather=1"],
)
def test_any_other_value_is_named_with_the_fix(text: str) -> None:
    with pytest.raises(UsageError, match="expected on, off, or some of wait=12h") as raised:
        batch_settings_of(text)
    assert repr(text) in str(raised.value)


@pytest.mark.parametrize(("factor", "expected"), [(None, 0.5), (0.4, 0.4), (1, 1.0), (0, 0.0)])
def test_everything_in_a_batch_costs_its_share(factor: float | None, expected: float) -> None:
    price = Price(input=8, output=40, cached_input=1, cache_write=10, batch=factor)
    usage = Usage(input_tokens=1000, cached_tokens=200, cache_write_tokens=100, output_tokens=50)
    assert price.in_batches.cost(usage) == pytest.approx(expected * price.cost(usage))
    assert Price(input=8, output=40).in_batches == Price(input=4, output=20)

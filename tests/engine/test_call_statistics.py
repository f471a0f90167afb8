"""The numbers of calls, of one model and of several together."""

from __future__ import annotations

from collections import Counter

import pytest

from pytest_llmeval.engine.statistics import CallStatistics, Effort, quantile
from pytest_llmeval.records import Usage

ONE = CallStatistics(
    requests=3,
    replies=2,
    retries=Counter({"429": 1}),
    limited_seconds=1.5,
    usage=Usage(output_tokens=10, cost=0.5),
    latencies=[1.0, 3.0],
    peak_in_flight=2,
)
OTHER = CallStatistics(
    requests=2,
    replies=2,
    retries=Counter({"429": 1, "reset": 1}),
    latencies=[2.0],
    peak_in_flight=5,
)


def test_several_models_are_summed_and_their_latencies_ranked_together() -> None:
    effort = Effort(models={"a": ONE, "b": OTHER}, from_store=4)
    total = effort.total
    assert (total.requests, total.replies, total.limited_seconds, total.peak_in_flight) == (
        5,
        4,
        1.5,
        5,
    )
    assert total.retries == {"429": 2, "reset": 1}
    assert total.usage == Usage(output_tokens=10, cost=0.5)
    assert total.latency_quantile(0.5) == 2.0
    assert ONE.latencies == [1.0, 3.0]


def test_the_json_form_holds_all_models_and_each() -> None:
    data = Effort(models={"a": ONE, "b": OTHER}, from_store=4).to_json()
    assert (data["requests"], data["from_store"]) == (5, 4)
    models = data["models"]
    assert isinstance(models, dict)
    assert models["a"] == ONE.to_json()


def test_without_models_there_is_nothing() -> None:
    assert Effort(models={}, from_store=0).total == CallStatistics()


def test_quantiles_lie_between_neighbours() -> None:
    assert quantile([5.0], 0.95) == 5.0
    assert quantile([1.0, 2.0, 3.0, 4.0], 0.5) == 2.5
    assert quantile([0.0, 10.0], 0.95) == pytest.approx(9.5)
    assert quantile([1.0, 2.0], 1.0) == 2.0


def test_the_latencies_have_the_quantiles_of_the_results_table() -> None:
    assert ONE.latency_quantile(0.5) == 2.0
    assert ONE.latency_quantile(0.95) == pytest.approx(2.9)
    assert CallStatistics().latency_quantile(0.5) is None

"""Figures that servers, functions and files report: only those that a reply can have count."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable
from typing import Any, Final

import pytest
from engine.requests_and_replies import request, stored
from hypothesis import given
from hypothesis import strategies as st
from providers.test_openai_bodies import NoImages

from pytest_llmeval.engine.budget import Budget
from pytest_llmeval.engine.prices import MOST, Price
from pytest_llmeval.engine.replies import StoredReply
from pytest_llmeval.engine.statistics import CallStatistics
from pytest_llmeval.providers.guard import GuardedProvider
from pytest_llmeval.providers.openai.replies import read_chat
from pytest_llmeval.providers.openai.responses import read_response
from pytest_llmeval.records import Reply, Usage
from pytest_llmeval.records.figures import MOST_DOLLARS, MOST_SECONDS, MOST_TOKENS, token_count

NAMES: Final = [
    *Usage.__struct_fields__,
    "prompt_tokens",
    "completion_tokens",
    "prompt_tokens_details",
    "completion_tokens_details",
]
ODD: Final = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([10**400, -(10**400), 10**4299, 2**63, -0.0, 12.0, 1e308, math.inf, math.nan]),
    st.floats(),
    st.text(max_size=5),
)
USAGES: Final = st.recursive(
    ODD,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=3), inner, max_size=6)
    ),
    max_leaves=12,
)
"""Any JSON, most of it with the names that usage has."""


def by_server(usage: Any) -> Reply:
    body = {"choices": [{"message": {"content": "x"}}], "usage": usage}
    return read_chat(json.dumps(body).encode(), NoImages())


def by_responses(usage: Any) -> Reply:
    return read_response(json.dumps({"output": [], "usage": usage}).encode(), NoImages())


def by_file(usage: Any) -> Reply:
    record: Any = stored(request("q")).to_json()
    record["reply"]["usage"] = usage
    record["reply"]["latency"] = record["created"] = usage
    return StoredReply.from_json(record).reply


def by_function(usage: Any) -> Reply:
    reply = Reply(text="x", usage=usage, latency=usage)
    return asyncio.run(GuardedProvider(lambda _: reply, name="f").send(request("q")))


def by_function_in_fields(usage: Any) -> Reply:
    fields = usage if isinstance(usage, dict) else {"input_tokens": usage, "cost": usage}
    known = {name: fields[name] for name in Usage.__struct_fields__ if name in fields}
    return by_function(Usage(**known))


DOORS: Final = [by_server, by_responses, by_file, by_function, by_function_in_fields]


@pytest.mark.parametrize("door", DOORS)
@given(usages=st.lists(USAGES, min_size=1, max_size=3))
def test_no_report_makes_a_sum_infinite_or_a_budget_overflow(
    door: Callable[[Any], Reply], usages: list[Any]
) -> None:
    statistics = CallStatistics()
    price = Price(input=MOST, output=MOST)
    budget = Budget(usd=1.0, max_tokens=10, prices={"m": price})
    for usage in usages:
        reply = door(usage)
        assert 0 <= reply.latency <= MOST_SECONDS
        assert 0 <= (reply.usage.cost or 0.0) <= MOST_DOLLARS
        assert all(
            type(count) is int and 0 <= count <= MOST_TOKENS
            for name, count in reply.usage.to_json().items()
            if name != "cost"
        )
        budget.settle(reply.usage, "m")
        statistics.usage += reply.usage
        statistics.latencies.append(reply.latency)
    assert math.isfinite(budget.spent_usd)
    assert budget.spent_usd >= 0
    json.dumps(statistics.to_json(), allow_nan=False)


@given(st.integers(0, MOST_TOKENS))
def test_a_figure_that_a_reply_can_have_is_taken_over(count: int) -> None:
    assert token_count(count) == token_count(float(count)) == count
    assert by_server({"prompt_tokens": count}).usage.input_tokens == count
    assert by_file({"output_tokens": count}).usage.output_tokens == count


@pytest.mark.parametrize("figure", [10**400, -1, math.nan, math.inf, "12", True, 1.5, None, [1]])
def test_a_figure_that_no_reply_can_have_counts_as_not_reported(figure: Any) -> None:
    assert token_count(figure) == 0


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"text": None}, "Expected `str`, got `null`"),
        ({"text": "x", "stop_reason": "eos"}, "stop_reason"),
        ({"text": "x", "model": object()}, "object"),
    ],
    ids=["text", "stop reason", "model"],
)
def test_a_function_that_returns_no_valid_reply_is_told_what_is_wrong(
    fields: dict[str, Any], told: str
) -> None:
    reply = Reply(**fields)
    provider = GuardedProvider(lambda _: reply, name="python/./m.py:f")
    with pytest.raises(Exception, match="returned a Reply that is none") as caught:
        asyncio.run(provider.send(request("q")))
    assert told in str(caught.value)

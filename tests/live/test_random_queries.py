"""The random queries of the differential test, before any engine is asked."""

from __future__ import annotations

from live.query_grammar import queries

from pytest_llmeval.domains.heracles.dialect import adapt
from pytest_llmeval.domains.heracles.query import preflight


def test_the_same_seed_writes_the_same_queries() -> None:
    assert queries(3, 40) == queries(3, 40) != queries(4, 40)


def test_queries_that_are_not_spoilt_pass_and_most_spoilt_ones_do_not() -> None:
    right, spoilt = queries(5, 300, spoilt=0), queries(5, 300, spoilt=1)
    assert [
        query for query in right if preflight(query) or adapt(query, {"center": "Point"}).refusal
    ] == []
    assert sum(adapt(query, {"center": "Point"}).refusal is not None for query in spoilt) > 200

"""The running accuracy is the accuracy of the rows so far, as the results table will have it."""

from __future__ import annotations

import json
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmeval.records import Outcome, Row
from pytest_llmeval.results.statistics import proportion_interval
from pytest_llmeval.session.tally import Tally

ROWS = st.lists(
    st.tuples(
        st.integers(0, 5),
        st.sampled_from("mn"),
        st.integers(1, 2),
        st.sampled_from(get_args(Outcome)),
        st.booleans(),
    ),
    max_size=30,
)


def row(sample: int, model: str, epoch: int, outcome: Outcome, *, cached: bool) -> Row:
    nodeid = f"test_it.py::test_it[{sample}-{model}-{epoch}]"
    return Row(
        test="test_it.py::test_it",
        task="sums",
        sample=str(sample),
        model=model,
        epoch=epoch,
        nodeid=nodeid,
        outcome=outcome,
        cached=cached,
    )


@given(ROWS)
def test_counts_and_interval_are_those_of_the_last_row_of_each_key(
    told: list[tuple[int, str, int, Outcome, bool]],
) -> None:
    rows: dict[object, Row] = {}
    tally = Tally()
    for sample, model, epoch, outcome, cached in told:
        new = row(sample, model, epoch, outcome, cached=cached)
        before = rows.get(new.key)
        rows[new.key] = new
        tally.count(new, before)
        assert tally.live <= tally.done == len(rows)
    clusters: dict[str, list[float]] = {}
    for one in rows.values():
        if one.outcome in {"correct", "incorrect"}:
            clusters.setdefault(one.sample, []).append(float(one.outcome == "correct"))
    values = [value for cluster in clusters.values() for value in cluster]
    assert tally.scored == len(values)
    assert tally.errors == sum(one.outcome == "error" for one in rows.values())
    assert tally.accuracy == (pytest.approx(sum(values) / len(values)) if values else None)
    assert tally.interval == proportion_interval(tuple(clusters.values()))


def test_stored_and_recorded_replies_and_tests_that_did_not_run_are_not_live() -> None:
    tally = Tally()
    plain = row(0, "m", 1, "correct", cached=False)
    tally.count(plain)
    for change in ({"cached": True}, {"recorded": True}, {"outcome": "not run"}):
        tally.count(Row.from_json({**json.loads(json.dumps(plain.to_json())), **change}))
    assert (tally.done, tally.live) == (4, 1)

"""A run holds several records a sample; the garbage collector need not look at them."""

from __future__ import annotations

import gc

from example_rows import eed, row


def test_the_collector_does_not_track_a_row_its_scores_and_its_usage() -> None:
    one = row(scores=eed(50.0, 40.0))
    assert [gc.is_tracked(part) for part in (one, one.usage, *one.scores)] == [False] * 4

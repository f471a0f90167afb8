"""The time left, against simulated runs whose end is known."""

from __future__ import annotations

import heapq
import random
from bisect import bisect
from collections.abc import Iterator
from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmeval.session.time_left import MovingRate, TimeLeft


@dataclass(frozen=True)
class Run:
    """A run of so many samples, of which the first ones are stored.

    Attributes:
        samples: number of samples.
        stored: how many are stored; a hundred of them end in a second.
        concurrency: requests in flight at most.
        seconds: median of a reply's seconds.
        spread: how much they differ: 0 is not at all.
        seed: of the seconds.
        in_part: whether the others are stored in part, such as all but the judge's verdicts.
    """

    samples: int
    stored: int
    concurrency: int
    seconds: float
    spread: float
    seed: int
    in_part: bool

    def ends(self) -> list[float]:
        """Return when each sample ends, in order of time."""
        draw, start = random.Random(self.seed), self.stored / 100
        ends = [number / 100 for number in range(self.stored)]
        slots = [start] * self.concurrency
        for _ in range(self.samples - self.stored):
            end = heapq.heappop(slots) + self.seconds * draw.lognormvariate(0, self.spread)
            heapq.heappush(slots, end)
            ends.append(end)
        return sorted(ends)

    def estimates(self) -> Iterator[tuple[float, int, float | None, float]]:
        """Yield time, tests left, estimate and true seconds left, once a tick until the end."""
        left, ends, now = TimeLeft(), self.ends(), 0.0
        while now < ends[-1]:
            done = bisect(ends, now)
            live = max(0, done - self.stored)
            left.note(now, done=done, live=0 if self.in_part else live, replies=live)
            remaining = self.samples - done
            flying = min(self.concurrency, remaining)
            yield now, remaining, left.seconds(now, remaining, flying), ends[-1] - now
            now += self.seconds / 4


RUNS = st.builds(
    Run,
    samples=st.integers(120, 300),
    stored=st.sampled_from((0, 0, 20, 60)),
    concurrency=st.sampled_from((1, 4, 16)),
    seconds=st.sampled_from((1.0, 3.0, 20.0)),
    spread=st.sampled_from((0.0, 0.2, 0.5)),
    seed=st.integers(0, 99),
    in_part=st.booleans(),
)


@settings(max_examples=30)
@given(RUNS)
def test_an_estimate_is_never_far_off_while_many_replies_are_to_come(run: Run) -> None:
    # A straggler of the last wave is late by any time: no rate foretells it.
    told = [
        (estimate, true)
        for now, remaining, estimate, true in run.estimates()
        if estimate is not None and now > run.stored / 100 and remaining > 3 * run.concurrency + 20
    ]
    assert all(true / 3 < estimate < 3 * true for estimate, true in told)


@settings(max_examples=30)
@given(RUNS)
def test_after_two_waves_of_replies_there_is_an_estimate(run: Run) -> None:
    begun = run.stored / 100 + 5 * run.seconds * (3 + 5 / run.concurrency)
    assert all(estimate is not None for now, _, estimate, _ in run.estimates() if now > begun)


def test_stored_replies_alone_tell_nothing_of_live_ones() -> None:
    left = TimeLeft()
    for second in range(3):
        left.note(second, done=500 * second, live=0, replies=0)
    assert left.seconds(2, 1000, in_flight=0) == 2
    assert left.seconds(2, 1000, in_flight=8) is None
    for end in range(1, 7):
        left.note(2 + end, done=1000 + end, live=end, replies=end)
    assert left.seconds(8, 1000, in_flight=1) == 1000


def test_a_rate_goes_over_the_last_seconds_and_falls_while_nothing_ends() -> None:
    rate = MovingRate(10)
    for second in range(100):
        rate.note(second, second * (1 if second < 50 else 2))
    assert rate.rate(99, 5) == 2
    assert (rate.rate(199, 5) or 0) < 0.2
    assert MovingRate(10).rate(5, 1) is None

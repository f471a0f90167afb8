"""How often samples are right when they are repeated."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

from pytest_llmeval.records import Row
from pytest_llmeval.results.figures import Repeated
from pytest_llmeval.results.means import interval_of
from pytest_llmeval.results.rows import parted
from pytest_llmeval.results.statistics import pass_all_k, pass_at_k


def repeated(scored: Sequence[Row]) -> tuple[Repeated, ...]:
    """Return pass@k and pass^k for k = 2, 4, 8, ... and the number of epochs; () for one epoch."""
    trials = [
        (len(part), sum(row.outcome == "correct" for row in part))
        for part in parted(scored, lambda row: row.sample).values()
    ]
    most = max((n for n, _ in trials), default=0)
    powers = {2**power for power in range(1, most.bit_length())}
    return tuple(_repeated(trials, k) for k in sorted(powers | ({most} if most > 1 else set())))


def _repeated(trials: Sequence[tuple[int, int]], k: int) -> Repeated:
    """Return both rates from (epochs, correct ones) of each sample; one sample has k at least."""
    enough = [(n, correct) for n, correct in trials if n >= k]
    once = [pass_at_k(n, correct, k) for n, correct in enough]
    always = [pass_all_k(n, correct, k) for n, correct in enough]
    return Repeated(
        k=k,
        n=len(enough),
        at_least_one=fsum(once) / len(enough),
        every_one=fsum(always) / len(enough),
        at_least_one_95=interval_of([[chance] for chance in once], 1.0),
        every_one_95=interval_of([[chance] for chance in always], 1.0),
    )

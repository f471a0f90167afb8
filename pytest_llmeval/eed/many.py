"""Scoring many pairs in children, in order, without reading all of them ahead."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice

from pytest_llmeval.eed.distance import PUBLISHED_WEIGHTS, ScoreFunction, Weights, published_score
from pytest_llmeval.eed.limits import Limits
from pytest_llmeval.eed.result import EedResult, Mode
from pytest_llmeval.eed.sandbox import Sandbox

_AHEAD = 2  # pairs read per process: one being scored, one waiting, so that no child idles


def eed_score_many(  # noqa: PLR0913 - the options of eed_score, and how to run it
    pairs: Iterable[tuple[str | None, str]],
    *,
    processes: int = 1,
    progress: Callable[[int], None] | None = None,
    mode: Mode = "corrected",
    weights: Weights = PUBLISHED_WEIGHTS,
    score: ScoreFunction = published_score,
    limits: Limits = Limits(),  # noqa: B008 - frozen
) -> Iterator[EedResult]:
    """Yield the result of each (answer, target) pair, in order, as `eed_score` scores them.

    The work is done in `processes` children under `limits` while the caller iterates; only a few pairs are read ahead
    of what was taken. `progress` is called with the number of results so far.
    """
    with (
        Sandbox(
            processes,
            cpu_seconds=limits.cpu_seconds,
            memory_mb=limits.memory_mb,
            wall_seconds=limits.wall_seconds,
        ) as sandbox,
        ThreadPoolExecutor(processes) as threads,
    ):

        def submit(pair: tuple[str | None, str]) -> Future[EedResult]:
            return threads.submit(sandbox.score, *pair, mode=mode, weights=weights, score=score)

        source = iter(pairs)
        pending = deque(map(submit, islice(source, _AHEAD * processes)))
        done = 0
        try:
            while pending:
                result = pending.popleft().result()
                pending.extend(map(submit, islice(source, 1)))
                done += 1
                if progress is not None:
                    progress(done)
                yield result
        finally:
            for future in pending:
                future.cancel()
            if pending:
                sandbox.close()  # the caller has gone: nobody waits for what is still being scored

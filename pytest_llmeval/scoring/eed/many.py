"""Scoring many pairs in children, in order, without reading all of them ahead."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import TypeAlias

from pytest_llmeval.scoring.eed.distance import (
    PUBLISHED_WEIGHTS,
    ScoreFunction,
    Weights,
    published_score,
)
from pytest_llmeval.scoring.eed.limits import Limits
from pytest_llmeval.scoring.eed.result import EedResult, Mode
from pytest_llmeval.scoring.eed.sandbox import Sandbox

Pair: TypeAlias = tuple[str | None, str]

_AHEAD = 32  # pairs read per process, so that no child idles while an expensive pair is the next to be yielded
_RUN = 8  # answers to one target that a child takes at once: it simplifies the target once


def eed_score_many(  # noqa: PLR0913 - the options of eed_score, and how to run it
    pairs: Iterable[Pair],
    *,
    processes: int = 1,
    progress: Callable[[int], None] | None = None,
    mode: Mode = "corrected",
    weights: Weights = PUBLISHED_WEIGHTS,
    score: ScoreFunction = published_score,
    limits: Limits = Limits(),  # noqa: B008 - frozen
    cache: Path | None = None,
) -> Iterator[EedResult]:
    """Yield the result of each (answer, target) pair, in order, as `eed_score` scores them.

    The work is done in `processes` children under `limits` while the caller iterates; some 32 pairs
    a child are read ahead of what was taken. It is fastest when the answers to one target follow
    each other. `progress` is called with the number of results so far. In the folder `cache`
    simplified targets are kept for the next time (see `Sandbox`).
    """
    with (
        Sandbox(
            processes,
            cpu_seconds=limits.cpu_seconds,
            memory_mb=limits.memory_mb,
            wall_seconds=limits.wall_seconds,
            cache=cache,
        ) as sandbox,
        ThreadPoolExecutor(processes) as threads,
    ):

        def scored(run: list[Pair]) -> list[EedResult]:
            return [sandbox.score(*pair, mode=mode, weights=weights, score=score) for pair in run]

        runs = _runs(pairs)
        pending: deque[Future[list[EedResult]]] = deque()
        read = done = 0
        try:
            while True:
                while read - done < _AHEAD * processes and (run := next(runs, None)):
                    pending.append(threads.submit(scored, run))
                    read += len(run)
                if not pending:
                    return
                for result in pending.popleft().result():
                    done += 1
                    if progress is not None:
                        progress(done)
                    yield result
        finally:
            for future in pending:
                future.cancel()
            sandbox.close()  # if the caller has gone, nobody waits for what is still being scored


def _runs(pairs: Iterable[Pair]) -> Iterator[list[Pair]]:
    """Yield the pairs in order, those with one target together."""
    for _, same in groupby(pairs, key=itemgetter(1)):
        while run := list(islice(same, _RUN)):
            yield run

"""Scoring of many pairs in children, in order, with a bounded number read ahead."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import groupby, islice
from operator import itemgetter
from typing import TypeAlias

from pytest_llmeval.scoring.eed.metric.distance import (
    PUBLISHED_WEIGHTS,
    ScoreFunction,
    Weights,
    published_score,
)
from pytest_llmeval.scoring.eed.result import Convention, EedResult, Mode
from pytest_llmeval.scoring.eed.sandbox.limits import Limits
from pytest_llmeval.scoring.eed.sandbox.sandbox import Sandbox

Pair: TypeAlias = tuple[str | None, str]

_AHEAD = 32  # pairs read ahead for each child, so that none idles behind an expensive pair
_BATCH = 8  # most answers to one target that a child scores in a row; it simplifies the target once


def eed_score_many(  # noqa: PLR0913 - the options of eed_score, and how to run it
    pairs: Iterable[Pair],
    *,
    processes: int = 1,
    progress: Callable[[int], None] | None = None,
    mode: Mode = "corrected",
    weights: Weights = PUBLISHED_WEIGHTS,
    score: ScoreFunction = published_score,
    conventions: Sequence[Convention] = (),
    limits: Limits = Limits(),  # noqa: B008 - frozen
) -> Iterator[EedResult]:
    """Yield the results of many pairs, in order, scored as by `eed_score` in child processes.

    The children work while the caller iterates. It is fastest when the answers to one target follow
    each other.

    Args:
        pairs: answer and target of each pair; some 32 for each child are read ahead.
        processes: number of children that score at the same time.
        progress: called after each result with the number of results so far.
        mode: as in `eed_score`.
        weights: as in `eed_score`.
        score: as in `eed_score`.
        conventions: as in `eed_score`.
        limits: limits on each evaluation; a pair that exceeds one scores 0.

    Raises:
        ScorerError: a child did not start.

    Example:
        >>> [result.score for result in eed_score_many([("4 m g", "2 m g"), ("x", "x")])]
        [35.0, 100.0]
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

        def scored(batch: list[Pair]) -> list[EedResult]:
            return [
                sandbox.score(
                    *pair, mode=mode, weights=weights, score=score, conventions=conventions
                )
                for pair in batch
            ]

        batches = _batches(pairs)
        pending: deque[Future[list[EedResult]]] = deque()
        read = done = 0
        try:
            while True:
                while read - done < _AHEAD * processes and (batch := next(batches, None)):
                    pending.append(threads.submit(scored, batch))
                    read += len(batch)
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
            sandbox.close()  # ends what is still being scored if the caller stopped iterating


def _batches(pairs: Iterable[Pair]) -> Iterator[list[Pair]]:
    """Yield the pairs in order, in lists of consecutive pairs with the same target."""
    for _, same in groupby(pairs, key=itemgetter(1)):
        while batch := list(islice(same, _BATCH)):
            yield batch

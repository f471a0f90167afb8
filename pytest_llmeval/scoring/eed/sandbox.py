"""Scoring in children that can be killed: what a model wrote is never evaluated in this process."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from weakref import finalize

from pytest_llmeval.errors import ScorerError
from pytest_llmeval.records import Json
from pytest_llmeval.scoring.eed.child import Child, LimitExceeded
from pytest_llmeval.scoring.eed.distance import (
    PUBLISHED_WEIGHTS,
    ScoreFunction,
    Weights,
    published_score,
)
from pytest_llmeval.scoring.eed.limits import TOO_EXPENSIVE, Limits
from pytest_llmeval.scoring.eed.result import EedResult, Mode


class Sandbox:
    """A pool of long-lived scoring children; thread-safe, started by the first request.

    A child that exceeds a limit is killed and costs one result, ``too expensive to evaluate``; the
    next answer meets a fresh child, which was warmed up from the moment the expensive one became
    slow.
    """

    def __init__(
        self,
        processes: int = 1,
        *,
        cpu_seconds: float = 60.0,
        memory_mb: int = 1024,
        wall_seconds: float = 600.0,
        cache: Path | None = None,
    ) -> None:
        """Take how many answers may be scored at once, and what one evaluation may cost (see Limits).

        In the folder `cache`, which is made if it is not there, simplified targets are kept from
        one process to the next; any number of sandboxes may share it. OSError when there can be no
        such folder.
        """
        if processes < 1:
            msg = f"Sandbox: processes must be 1 or more, not {processes}"
            raise ValueError(msg)
        self._limits = Limits(
            cpu_seconds=cpu_seconds, memory_mb=memory_mb, wall_seconds=wall_seconds
        )
        if cache is not None:
            cache.mkdir(parents=True, exist_ok=True)
        self._cache = None if cache is None else cache.absolute()
        self._turns = threading.BoundedSemaphore(processes)
        self._lock = threading.Lock()
        self._waiting: list[Child] = []
        self._children: set[Child] = set()
        self._closed = False
        self._finalizer = finalize(self, _end_all, self._children)

    def score(
        self,
        answer: str | None,
        target: str,
        *,
        mode: Mode = "corrected",
        weights: Weights = PUBLISHED_WEIGHTS,
        score: ScoreFunction = published_score,
    ) -> EedResult:
        """Return what `eed_score` returns, computed in a child under the limits."""
        request: dict[str, Json] = {
            "task": "score",
            "answer": answer,
            "target": target,
            "mode": mode,
            "weights": asdict(weights),
        }
        try:
            return EedResult.from_json(self._ask(request)).rescored(score)
        except LimitExceeded as limit:
            return EedResult.unreadable(mode, f"{TOO_EXPENSIVE}: {limit}")

    def score_modes(
        self,
        answer: str | None,
        target: str,
        modes: Sequence[Mode] = ("corrected", "published"),
        *,
        weights: Weights = PUBLISHED_WEIGHTS,
    ) -> dict[Mode, EedResult]:
        """Return the results of several modes; one that is too expensive does not spoil the others."""
        return {mode: self.score(answer, target, mode=mode, weights=weights) for mode in modes}

    def equivalent(self, answer: str, target: str) -> bool:
        """Return whether two formulas are certainly equal; False also when they are unreadable or too expensive."""
        try:
            return bool(
                self._ask({"task": "equivalent", "answer": answer, "target": target})["equivalent"]
            )
        except LimitExceeded:
            return False

    def explain(self, answer: str, target: str, *, mode: Mode = "corrected") -> str:
        """Return what `explain` returns, computed in a child under the limits."""
        try:
            return str(
                self._ask({"task": "explain", "answer": answer, "target": target, "mode": mode})[
                    "text"
                ]
            )
        except LimitExceeded as limit:
            return f"{TOO_EXPENSIVE}: {limit}"

    def close(self) -> None:
        """End all children; requests still waiting for one get a ScorerError."""
        with self._lock:
            self._closed = True
        self._finalizer()

    def __enter__(self) -> Self:
        """Return the sandbox itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        """Close it."""
        self.close()

    def _ask(self, request: dict[str, Json]) -> dict[str, Any]:
        with self._turns:
            child = self._take()
            try:
                reply = child.ask(request, when_slow=self._warm_spare)
            except BaseException as error:
                self._discard(child)
                if self._closed and isinstance(error, LimitExceeded):
                    msg = "the EED sandbox was closed"
                    raise ScorerError(msg) from error
                raise
            with self._lock:
                self._waiting.append(child)
            return reply

    def _take(self) -> Child:
        with self._lock:
            while self._waiting and not self._closed:
                child = self._waiting.pop()
                if child.running:
                    return child
                self._discard(
                    child
                )  # it died with nothing to do: that is not the next answer's fault
            return self._start()

    def _warm_spare(self) -> None:
        with self._lock:
            if not self._waiting and not self._closed:
                self._waiting.append(self._start())

    def _start(self) -> Child:
        """Start a child; the lock is held."""
        if self._closed:
            msg = "the EED sandbox is closed"
            raise ScorerError(msg)
        child = Child(self._limits, self._cache)
        self._children.add(child)
        return child

    def _discard(self, child: Child) -> None:
        child.end()
        self._children.discard(child)


def _end_all(children: set[Child]) -> None:
    while children:
        children.pop().end()

"""Scoring in child processes that can be killed, for formulas that models wrote."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self
from weakref import finalize

from pytest_llmeval.errors import ScorerError
from pytest_llmeval.records import Json
from pytest_llmeval.scoring.eed.metric.distance import (
    PUBLISHED_WEIGHTS,
    ScoreFunction,
    Weights,
    published_score,
)
from pytest_llmeval.scoring.eed.result import Convention, EedResult, Mode
from pytest_llmeval.scoring.eed.sandbox.child import Child, LimitExceededError
from pytest_llmeval.scoring.eed.sandbox.limits import TOO_EXPENSIVE, Limits


class Sandbox:
    """A pool of long-lived scoring children; thread-safe, started by the first request.

    A child that exceeds a limit is killed, and its answer's result is ``too expensive to
    evaluate``. As soon as an evaluation becomes slow, a spare child is started, so that the next
    answer need not wait for one.

    Example:
        >>> with Sandbox() as sandbox:
        ...     sandbox.score("4 m g", "2 m g").score
        35.0
    """

    def __init__(
        self,
        processes: int = 1,
        *,
        cpu_seconds: float = 60.0,
        memory_mb: int = 1024,
        wall_seconds: float = 600.0,
    ) -> None:
        """Create a pool; no child is started yet.

        Args:
            processes: number of answers scored at the same time, at least 1.
            cpu_seconds: limit on one evaluation, as in `Limits`.
            memory_mb: likewise.
            wall_seconds: likewise.

        Raises:
            ValueError: an argument is out of range.
        """
        if processes < 1:
            msg = f"Sandbox: processes must be 1 or more, not {processes}"
            raise ValueError(msg)
        self._limits = Limits(
            cpu_seconds=cpu_seconds, memory_mb=memory_mb, wall_seconds=wall_seconds
        )
        self._slots = threading.BoundedSemaphore(processes)
        self._lock = threading.Lock()
        self._idle: list[Child] = []
        self._children: set[Child] = set()
        self._closed = False
        self._finalizer = finalize(self, _end_all, self._children)

    def score(  # noqa: PLR0913 - the choices of eed_score
        self,
        answer: str | None,
        target: str,
        *,
        mode: Mode = "corrected",
        weights: Weights = PUBLISHED_WEIGHTS,
        score: ScoreFunction = published_score,
        conventions: Sequence[Convention] = (),
    ) -> EedResult:
        """Return what `eed_score` returns, computed in a child under the limits."""
        request: dict[str, Json] = {
            "task": "score",
            "answer": answer,
            "target": target,
            "mode": mode,
            "weights": weights.to_json(),
            "conventions": [*conventions],
        }
        try:
            return EedResult.from_json(self._ask(request)).rescored(score)
        except LimitExceededError as limit:
            return EedResult.unreadable(mode, f"{TOO_EXPENSIVE}: {limit}")

    def equal(
        self, answer: str | None, target: str, *, conventions: Sequence[Convention] = ()
    ) -> bool | None:
        """Return what `latex_equal` returns; False for a pair that exceeds a limit."""
        request: dict[str, Json] = {
            "task": "equal",
            "answer": answer,
            "target": target,
            "conventions": [*conventions],
        }
        try:
            equal = self._ask(request)["equal"]
        except LimitExceededError:
            return False
        return None if equal is None else bool(equal)

    def target_error(self, target: str) -> str:
        """Return why the corrected mode cannot read a target; "" if it can."""
        try:
            return str(self._ask({"task": "check", "answer": "", "target": target})["reason"])
        except LimitExceededError as limit:
            return f"{TOO_EXPENSIVE}: {limit}"

    def score_modes(
        self,
        answer: str | None,
        target: str,
        modes: Sequence[Mode] = ("corrected", "published"),
        *,
        weights: Weights = PUBLISHED_WEIGHTS,
    ) -> dict[Mode, EedResult]:
        """Return the result of each mode, each under the limits."""
        return {mode: self.score(answer, target, mode=mode, weights=weights) for mode in modes}

    def explain(self, answer: str, target: str, *, mode: Mode = "corrected") -> str:
        """Return what `explain` returns, computed in a child under the limits."""
        request: dict[str, Json] = {
            "task": "explain",
            "answer": answer,
            "target": target,
            "mode": mode,
        }
        try:
            return str(self._ask(request)["text"])
        except LimitExceededError as limit:
            return f"{TOO_EXPENSIVE}: {limit}"

    def close(self) -> None:
        """End all children; requests that wait for one raise ScorerError."""
        with self._lock:
            self._closed = True
        self._finalizer()

    def __enter__(self) -> Self:
        """Return the sandbox."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        """Close the sandbox."""
        self.close()

    def _ask(self, request: dict[str, Json]) -> dict[str, Any]:
        with self._slots:
            child = self._take()
            try:
                reply = child.ask(request, when_slow=self._warm_spare)
            except BaseException as error:
                self._discard(child)
                if self._closed and isinstance(error, LimitExceededError):
                    msg = "the EED sandbox was closed"
                    raise ScorerError(msg) from error
                raise
            with self._lock:
                self._idle.append(child)
            return reply

    def _take(self) -> Child:
        with self._lock:
            while self._idle and not self._closed:
                child = self._idle.pop()
                if child.running:
                    return child
                self._discard(child)  # it died while idle, through no fault of the next answer
            return self._start()

    def _warm_spare(self) -> None:
        with self._lock:
            if not self._idle and not self._closed:
                self._idle.append(self._start())

    def _start(self) -> Child:
        """Start a child; the caller holds the lock."""
        if self._closed:
            msg = "the EED sandbox is closed"
            raise ScorerError(msg)
        child = Child(self._limits)
        self._children.add(child)
        return child

    def _discard(self, child: Child) -> None:
        child.end()
        self._children.discard(child)


def _end_all(children: set[Child]) -> None:
    while children:
        children.pop().end()

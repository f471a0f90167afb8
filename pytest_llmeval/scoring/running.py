"""The running test: the port between assertions and whatever runs tests."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Final, Protocol

from pytest_llmeval.records import Sample, Score
from pytest_llmeval.scoring.scorer import Scorer


class RunningTest(Protocol):
    """What an assertion uses of the test that it runs in."""

    @property
    def scorers(self) -> tuple[Scorer, ...]:
        """The scorers that the test's task declares; () without a task."""
        ...

    @property
    def any_decides(self) -> bool:
        """Whether one correct deciding score is enough; otherwise all must be correct."""
        ...

    @property
    def sample(self) -> Sample | None:
        """The test's sample; None without a task."""
        ...

    def score(self, scorer: Scorer, answer: str | None, sample: Sample) -> Score:
        """Return the recorded score of an answer, prepared by the engine where the scorer asks.

        Raises:
            Exception: the scorer failed, by whatever it raised.
        """
        ...

    def tried(
        self, scorer: Scorer, answer: str | None, sample: Sample
    ) -> tuple[Score, Exception | None]:
        """Return what `score` does, and None; of a scorer that failed an undecided score, and how.

        Both are recorded.
        """
        ...

    def record(self, score: Score) -> Score:
        """Keep a score with the test and return it.

        Raises:
            ScorerError: the score is not plain JSON, or its value lies outside its scale.
        """
        ...


class Running:
    """The running test of this process, the same in every thread and event loop of its body.

    Pytest runs one test at a time. A context variable alone would not do: event loops that several
    tests share run in the context of the first one. Bodies that begin ahead of their turn have
    contexts of their own, in which the running test is theirs (`within`).
    """

    def __init__(self) -> None:
        """Begin without a test."""
        self._test: RunningTest | None = None
        self._ahead: ContextVar[RunningTest | None] = ContextVar("llmeval test", default=None)

    def get(self) -> RunningTest | None:
        """Return the running test; None between tests."""
        return self._ahead.get() or self._test

    def set(self, test: RunningTest | None) -> None:
        """Take a test as the running one."""
        self._test = test

    def within(self, test: RunningTest) -> None:
        """Take a test as the running one in the current context, whatever runs elsewhere."""
        self._ahead.set(test)


RUNNING: Final = Running()
"""The running test; the plugin sets it around every test body."""

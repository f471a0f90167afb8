"""The tests of a run that are not completed, because of a mistake that one of them reports."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_llmeval.engine.plan import PlannedTest
from pytest_llmeval.errors import LLMEvalError, TaskStopped


class Stops:
    """Which tests are refused, and with which error."""

    def __init__(self, mistakes: Mapping[str, LLMEvalError]) -> None:
        """Refuse all tests of the task files that are keys of `mistakes`."""
        self._mistakes = dict(mistakes)
        self._tellers: dict[str, str] = {}
        self._ended: dict[str, str] = {}

    def end(self, test: str, reason: str) -> None:
        """Refuse all further tests of a test function, named as in `PlannedTest.test`."""
        self._ended.setdefault(test, reason)

    def mistake(self, file: str, error: LLMEvalError) -> None:
        """Refuse all further tests of a task file, whose mistake a sample met."""
        self._mistakes.setdefault(file, error)

    def concerns(self, test: PlannedTest) -> bool:
        """Return whether a test is refused."""
        return test.file in self._mistakes or test.test in self._ended

    def check(self, test: PlannedTest) -> None:
        """Raise the error of a refused test.

        Raises:
            LLMEvalError: the task's mistake, for the first test that asks, and for its reruns.
            TaskStopped: another test reports the mistake.
        """
        if (mistake := self._mistakes.get(test.file)) is not None:
            teller = self._tellers.setdefault(test.file, test.nodeid)
            if teller == test.nodeid:
                raise mistake
            msg = f"task {test.task!r} cannot be run; {teller} says why"
            raise TaskStopped(msg)
        if (reason := self._ended.get(test.test)) is not None:
            raise TaskStopped(reason)

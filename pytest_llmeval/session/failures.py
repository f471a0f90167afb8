"""Failures of the user's own code: the body of a test, a scorer, a solver.

A mistake in such code fails for every sample. After the first few equal failures nothing more is
asked for the test function, because every further reply would be paid for nothing.
"""

from __future__ import annotations

import traceback
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pytest_llmeval.engine.plan import PlannedTest
from pytest_llmeval.errors import LLMEvalError, ProviderError, ToolError
from pytest_llmeval.safety.printable import class_name, message_of, printable

SAME: Final = 3
"""Failures with one message, before any other outcome, after which a test function is stopped."""

ALIKE: Final = 10
"""The same for failures of one exception type at one place, whose messages differ: they may come
from what the model wrote."""

_LONGEST: Final = 200
"""Characters of a message that are compared and shown."""


@dataclass(frozen=True, slots=True)
class Failure:
    """How a test failed by an exception of the user's own code.

    Attributes:
        kind: the exception's class.
        place: ``file:line`` where it was raised.
        message: its message, cut.
        in_body: whether the test body itself raised it, not this package on its behalf.
    """

    kind: str
    place: str
    message: str
    in_body: bool

    @classmethod
    def of(
        cls, raised: BaseException, test_file: Path, sample: str, *, in_body: bool
    ) -> Failure | None:
        """Return the failure that an exception shows; None if its cause is not the user's code.

        That is so for providers, tools and time-outs.

        Args:
            raised: the exception.
            test_file: the file of the test; the place is the innermost line in it, if there is one.
            sample: id of the sample, which messages may name.
            in_body: whether it was raised while the body ran, not the set-up.
        """
        if isinstance(raised, ProviderError | ToolError) or type(raised) is LLMEvalError:
            return None
        frames = traceback.extract_tb(raised.__traceback__)
        own = [frame for frame in frames if frame.filename == str(test_file)] or list(frames)
        place = f"{Path(own[-1].filename).name}:{own[-1].lineno}" if own else ""
        message = message_of(raised).replace(repr(sample), "...")[:_LONGEST]
        own_code = in_body and not isinstance(raised, LLMEvalError)
        return cls(class_name(raised), printable(place), message, own_code)


class Failures:
    """The failures of a run, by test function and test."""

    def __init__(self) -> None:
        """Start without any."""
        self._beginning: dict[str, dict[str, Failure] | None] = {}
        self._last: dict[str, Failure] = {}

    def add(self, test: PlannedTest, failure: Failure | None) -> str | None:
        """Add the end of a test.

        Args:
            test: the test; a rerun replaces its earlier end.
            failure: its failure; None if it ended otherwise.

        Returns:
            Why the other tests of its function should not be run; None if they should.
        """
        if failure is None:
            self._last.pop(test.nodeid, None)
            self._beginning[test.test] = None
            return None
        self._last[test.nodeid] = failure
        first = self._beginning.setdefault(test.test, {})
        if first is None:
            return None
        first[test.nodeid] = failure
        kinds = Counter((one.kind, one.place) for one in first.values())
        if len(kinds) > 1:
            self._beginning[test.test] = None
            return None
        same = Counter(one.message for one in first.values())
        if same[failure.message] < SAME and len(first) < ALIKE:
            return None
        self._beginning[test.test] = None
        place = f" at {failure.place}" if failure.place else ""
        return (
            f"the first {len(first)} tests of {test.test} all ended by "
            f"{failure.kind}{place}: {failure.message}"
        )

    def remarks(self) -> list[str]:
        """Return a sentence for each kind of exception that test bodies raised."""
        in_body = [one for one in self._last.values() if one.in_body]
        kinds = Counter(one.kind for one in in_body)
        return [
            f"{_counted(n)} {kind} of the test body, not counted as incorrect: "
            f"{next(one.place for one in in_body if one.kind == kind)}"
            for kind, n in kinds.most_common()
        ]


def _counted(number: int) -> str:
    return "1 error is" if number == 1 else f"{number} errors are"

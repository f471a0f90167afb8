"""The writes of a run: the first that fails ends the run."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pytest_llmeval.errors import RunStopped, UsageError


class Writes:
    """Notes what a run could not write, and ends the run: further replies would be paid in vain.

    The methods may be called from any thread.

    Attributes:
        failures: a sentence for each kind of file that could not be written, in order.
    """

    def __init__(self, on_failure: Callable[[str], None] = lambda _: None) -> None:
        """Call `on_failure` with the sentence of each failure."""
        self._on_failure = on_failure
        self._failed: dict[str, str] = {}

    @property
    def failures(self) -> tuple[str, ...]:
        """The first failure of each kind of file, as a sentence."""
        return tuple(self._failed.values())

    @contextmanager
    def to(self, what: str) -> Iterator[None]:
        """Raise RunStopped if the block cannot write.

        Args:
            what: what is written, such as ``rows``, for the message.
        """
        try:
            yield
        except (OSError, sqlite3.Error, UsageError) as error:
            raise RunStopped(self.failed(what, error)) from error

    def failed(self, what: str, error: Exception) -> str:
        """Note that `what` cannot be written because of `error`; return the sentence."""
        sentence = f"{what} cannot be written any more: {error}"
        # The first one is the cause; a full disk brings one for every row that follows.
        self._failed.setdefault(what, sentence)
        self._on_failure(sentence)
        return sentence

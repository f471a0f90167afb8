"""Completes one sample: its solver, then what its scorers prepare."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from msgspec.structs import replace

from pytest_llmeval.engine.calls import Calls
from pytest_llmeval.engine.choice import ModelChoice
from pytest_llmeval.engine.judge_names import partner_names
from pytest_llmeval.engine.models import Models
from pytest_llmeval.engine.plan import PlannedTest
from pytest_llmeval.engine.preparing import Preparing
from pytest_llmeval.engine.sample_time import SampleTime
from pytest_llmeval.engine.solved import Solved
from pytest_llmeval.engine.solving import Solving
from pytest_llmeval.engine.tickets import Ticket
from pytest_llmeval.errors import LLMEvalError, RunStopped
from pytest_llmeval.records import Completion, RowKey, StageNote, Transcript

KeepTranscript = Callable[[RowKey, Transcript], None]
"""Stores a sample's transcript, once its solver has ended or failed; RunStopped if it cannot."""


class Completing:
    """Completes samples, and stores their transcripts."""

    def __init__(  # noqa: PLR0913 - the collaborators of a run
        self,
        *,
        models: Models,
        choice: ModelChoice,
        solving: Solving,
        preparing: Preparing,
        keep_transcript: KeepTranscript,
        sample_timeout: float | None,
        ended: Callable[[], LLMEvalError | None],
    ) -> None:
        """Use the parts of a run.

        Args:
            models: replies to requests.
            choice: the models of each test.
            solving: runs solvers.
            preparing: prepares scorers.
            keep_transcript: stores transcripts.
            sample_timeout: seconds that one sample may take from its first request; None is no
                limit.
            ended: returns why the run has ended; None while it goes on.
        """
        self._models, self._choice = models, choice
        self._solving, self._preparing = solving, preparing
        self._keep_transcript, self._timeout, self._ended = keep_transcript, sample_timeout, ended
        self._failed: dict[RowKey, Transcript] = {}

    async def solved(self, test: PlannedTest, ticket: Ticket) -> Solved:
        """Return the solved sample of a test; store its transcript in any case.

        A failure of a scorer, whatever it is, and the end of the run while they ask, stand in the
        result beside the completion, which is paid.

        Raises:
            LLMEvalError: the solver failed.
            RunStopped: the transcript cannot be stored.
        """
        time = SampleTime(self._timeout)
        calls = Calls(self._models, ticket, epoch=test.epoch)
        ticket.on_sent, ticket.on_hold = time.start, time.hold
        try:
            completion = await self._solve(test, calls, time)
            solved = await self._prepare(test, completion, calls, time)
            completion = replace(completion, transcript=calls.transcript)
            partners = partner_names(self._choice, test, calls.transcript)
            return replace(solved, completion=completion, partners=partners)
        except LLMEvalError as error:
            calls.note(StageNote(stage="error", text=f"{type(error).__name__}: {error}"))
            self._failed[test.key] = calls.transcript
            raise
        finally:
            self.keep(test.key, calls.transcript)

    def failed(self, key: RowKey) -> Transcript:
        """Return what happened for a sample that failed, once; nothing where none did."""
        return self._failed.pop(key, Transcript())

    def keep(self, key: RowKey, transcript: Transcript) -> None:
        """Store a transcript; without it nothing more is sent.

        Raises:
            RunStopped: it cannot be stored.
        """
        try:
            self._keep_transcript(key, transcript)
        except RunStopped as stopped:
            self._models.end(str(stopped))
            raise

    async def _solve(self, test: PlannedTest, calls: Calls, time: SampleTime) -> Completion:
        try:
            async with time.limit():
                await self._preparing.check(test)
                completion = await self._solving.solve(test, calls)
        except TimeoutError:
            raise self._too_late(test, "done") from None
        # A stored completion brings its own; scorers may look at either.
        made = calls.transcript
        return replace(completion, transcript=made) if made.events else completion

    async def _prepare(
        self, test: PlannedTest, completion: Completion, calls: Calls, time: SampleTime
    ) -> Solved:
        preparation = self._preparing.begin(test)
        try:
            async with time.limit():
                await self._preparing.ahead(preparation, test, completion, calls)
        except TimeoutError:
            preparation.end(self._too_late(test, "judged"))
        except asyncio.CancelledError:
            if (reason := self._ended()) is None:
                raise
            preparation.end(RunStopped(str(reason)))
        return preparation.solved(completion)

    def _too_late(self, test: PlannedTest, done: str) -> LLMEvalError:
        return LLMEvalError(
            f"sample {test.sample!r}: not {done} within {self._timeout:g} s "
            "(--llmeval-sample-timeout)"
        )

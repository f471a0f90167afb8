"""What a failed attempt ends: nothing, its request, or the whole model."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final, assert_never

from pytest_llmeval.engine.attempts import Attempts
from pytest_llmeval.engine.limits import Limiter, Slot
from pytest_llmeval.engine.silence import Silence
from pytest_llmeval.errors import ModelSilent, ProviderError

LOST_AFTER: Final = 10
"""Bursts of failures, besides the patience, that it takes to give up on a model.

Without them that could happen while long replies are under way: bursts shrink the concurrency until
those replies fill it, and then nothing is sent that could fail.
"""

DEAD_AFTER: Final = 4
"""Bursts of unreachable attempts that lose a model that never answered."""

SEVERAL: Final = 5
"""Distinct requests that must fail, with no reply in between, before the model is to blame."""

OVERLOADED: Final = frozenset({429, 502, 503, 529})
"""Statuses by which a server refuses one request or all of them alike."""


class FailurePolicy:
    """Decides what failures of one model end.

    Whether a server refuses a request or all of them cannot be seen from one request. So one is
    never enough to give up on a model: several distinct ones must have failed since the last reply.
    Even then it is *silent*, not lost: every request is still sent, once, and a reply ends the
    silence. A model is *lost*, so that its limiter refuses all requests, when the cause cannot be
    the request: no connection, or a failure by which the provider says so.
    """

    def __init__(self, name: str, limits: Limiter, *, patience: float) -> None:
        """Decide for one model.

        Args:
            name: the model's name, for messages.
            limits: the model's limiter.
            patience: seconds that the server may be away.
        """
        self._name, self._limits, self._patience = name, limits, patience
        self._replies = self._failures = 0
        self._answered = self._silent = False
        # Ended by a reply; and by an answer of any kind, also an error.
        self._silence, self._absence = Silence(), Silence()
        self._given_up: dict[Hashable, str] = {}

    def replied(self) -> None:
        """Note a reply."""
        self._replies += 1
        self._answered, self._silent = True, False
        self._silence.end()
        self._absence.end()
        self._given_up.clear()

    def failed(self, error: ProviderError, attempts: Attempts, slot: Slot) -> bool:
        """Note a failed attempt; return whether all requests pause, instead of this one alone.

        Args:
            error: the failure.
            attempts: all failures of the request, to which this one is added.
            slot: the slot of the attempt.
        """
        unreachable = error.cause == "unreachable"
        if not unreachable:
            self._answered = True
            self._absence.end()
        if error.reach != "attempt":
            attempts.own[error.cause] += 1
            return False
        self._silence.subjects.add(attempts.subject)
        shared = self._is_shared(error, attempts)
        singled_out = self._is_singled_out(attempts)
        attempts.singled_out = attempts.singled_out + 1 if singled_out else 0
        if shared or error.status in OVERLOADED:
            attempts.refused += 1
        else:
            attempts.own[error.cause] += 1
        if attempts.answered_before is None:
            attempts.answered_before = self._replies
        self._failures += 1
        attempts.seen = (self._replies, self._failures)
        if not shared:
            attempts.waits += 1
            return False
        # While the model is silent each request is sent once, without a pause.
        if not self._silent and self._limits.throttled(slot, retry_after=error.retry_after):
            self._silence.add_burst()
            if unreachable:
                self._absence.add_burst()
        return True

    def final(self, error: ProviderError, attempts: Attempts) -> ProviderError | None:
        """Return the error that ends a request, or None when another attempt is worth it.

        Args:
            error: the last failure.
            attempts: all failures of the request.
        """
        match error.reach:
            case "model":
                return self._lose(error, str(error))
            case "pictures":
                return error
            case "sample":
                silent = None if self._replies else self._alike(error, attempts, str(error))
                return silent or error
            case "attempt":
                return self._after_attempt(error, attempts)
            case _:
                assert_never(error.reach)

    def _is_shared(self, error: ProviderError, attempts: Attempts) -> bool:
        """Return whether the model is to blame for a failed attempt rather than its request."""
        if error.cause == "unreachable":
            return True  # before anything of the request was sent
        if error.cause == "timeout":
            return False
        if error.status in OVERLOADED:
            return not self._is_alone(attempts)
        return len(self._silence.subjects) >= SEVERAL

    def _is_alone(self, attempts: Attempts) -> bool:
        """Return whether others were answered since it first failed, and then only it failed."""
        return (
            attempts.answered_before is not None
            and attempts.answered_before < self._replies
            and self._silence.subjects == {attempts.subject}
        )

    def _is_singled_out(self, attempts: Attempts) -> bool:
        """Return whether since its last failure no other failed, and some were answered.

        Once it is so, it remains so until another one fails. Under a limit that nobody told it is
        rare, because there all fail in turn.
        """
        replies, failures = attempts.seen
        return (
            attempts.answered_before is not None
            and failures == self._failures
            and (replies < self._replies or attempts.singled_out > 0)
        )

    def _after_attempt(self, error: ProviderError, attempts: Attempts) -> ProviderError | None:
        unreachable = error.cause == "unreachable"
        if unreachable and self._is_away():
            return self._lose(error, f"{self._quiet}{error}" if self._answered else str(error))
        if self._silent:
            return self._fall_silent(error, f"{self._quiet}{error}")
        # How long a request waits for a connection is decided above. The absence may have begun
        # after the silence, as an error that the server answers ends the absence alone.
        over = not unreachable and attempts.refused > 0 and self._is_over(self._silence)
        if over and len(self._silence.subjects) >= SEVERAL:
            return self._fall_silent(error, f"{self._quiet}{error}")
        problem = f"gave up after {attempts.total} attempts; the last one: {error}"
        final = ProviderError(f"{self._name}: {problem}", status=error.status, cause=error.cause)
        if over or attempts.exhausted:
            return self._alike(final, attempts, error.cause) or final
        # Time-outs take too long to wait for the last of several requests.
        again = attempts.own["timeout"] > 1
        return self._alike(final, attempts, error.cause) if again else None

    def _is_over(self, silence: Silence) -> bool:
        """Return whether a silence is longer than a server may be away."""
        return silence.bursts >= LOST_AFTER and silence.seconds >= self._patience

    def _is_away(self) -> bool:
        """Return whether there has been no connection for too long."""
        if not self._answered:
            return self._absence.bursts >= DEAD_AFTER
        return self._is_over(self._absence)

    @property
    def _quiet(self) -> str:
        return f"{self._name}: no reply for {self._silence.seconds:.0f} s; the last error: "

    def _alike(self, final: ProviderError, attempts: Attempts, how: str) -> ModelSilent | None:
        """Return the model's error if several requests in a row ended alike, else None.

        Args:
            final: the error by which this request ends.
            attempts: all failures of the request.
            how: how it ended: the message of a refusal; the cause of failed attempts, as their
                messages may hold a number of the server's.
        """
        self._given_up[attempts.subject] = how
        if len(self._given_up) < SEVERAL or len(set(self._given_up.values())) > 1:
            return None
        which = "last" if self._replies else "first"
        return self._fall_silent(final, f"the {which} {SEVERAL} requests failed alike: {final}")

    def _fall_silent(self, error: ProviderError, problem: str) -> ModelSilent:
        if not self._silent:
            # The requests that are left are sent once each, which a pause would only delay.
            self._silent = True
            self._limits.resume()
        return ModelSilent(problem, status=error.status, cause=error.cause)

    def _lose(self, error: ProviderError, problem: str) -> ProviderError:
        def lost() -> ProviderError:
            return ProviderError(problem, reach="model", status=error.status, cause=error.cause)

        # A new one for each request: an exception raised twice gathers both tracebacks.
        self._limits.stop(lost)
        return lost()

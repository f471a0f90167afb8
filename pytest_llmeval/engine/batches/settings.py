"""How batches are waited for, as ``--llmeval-batch`` says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pytest_llmeval.engine.durations import seconds_of
from pytest_llmeval.errors import UsageError

BATCH: Final = "--llmeval-batch"

GATHER: Final = 5.0
"""Seconds without a further request after which the requests that came are sent, at most."""

LONGEST_GATHER: Final = 12
"""A request waits so many times `gather` for others, at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchSettings:
    """How batches are waited for. All figures are seconds.

    Attributes:
        wait: how long the run waits for batches, from the first one on, before it ends and leaves
            them with the provider; None for as long as they take.
        deadline: the age at which a batch is cancelled: what is answered by then counts, the other
            requests fail; None for the provider's own.
        poll: time between two questions for the state of a batch.
    """

    wait: float | None = None
    deadline: float | None = None
    poll: float = 30.0

    @property
    def gather(self) -> float:
        """Seconds without a further request after which those that came are sent."""
        return min(GATHER, self.poll)


def batch_settings_of(text: str) -> BatchSettings | None:
    """Return what a value such as ``on``, ``wait=0`` or ``wait=12h,deadline=2d,poll=1m`` means.

    None is for ``off``: nothing is sent in batches.

    Raises:
        UsageError: the value has another form.
    """
    if text in {"on", "off"}:
        return BatchSettings() if text == "on" else None
    values: dict[str, float] = {}
    for part in text.split(","):
        name, equals, value = part.partition("=")
        if not equals or name not in BatchSettings.__dataclass_fields__ or name in values:
            raise _wrong(text, f"{part!r} is not taken")
        try:
            values[name] = 0.0 if name == "wait" and value == "0" else seconds_of(value)
        except ValueError:
            raise _wrong(text, f"{value!r} is not a span of time") from None
    return BatchSettings(**values)


def _wrong(text: str, problem: str) -> UsageError:
    form = "on, off, or some of wait=12h, deadline=2d and poll=30, each once, divided by commas"
    told = f"{BATCH} {text!r}: {problem}; expected {form}"
    return UsageError(f"{told} (before a path write {BATCH}=on)")

"""The scale ``pairwise``: which of two replies is better, asked in both orders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import ClassVar, Final

from pytest_llmeval.records import Json, Verdict
from pytest_llmeval.scoring.judge.majority import is_settled, winning
from pytest_llmeval.scoring.judge.reply import ONE_OBJECT, REASON, SENTENCE, decisions

WIN: Final = "win"
TIE: Final = "tie"
LOSS: Final = "loss"

VALUES: Final[Mapping[str, float]] = {WIN: 1.0, TIE: 0.5, LOSS: 0.0}
"""The labels of a verdict, from the candidate's side, and their values."""

_KEY: Final = "better"
_SHOWN: Final = ("A", "B", TIE)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairwiseScale:
    """``{"reason": "...", "better": "A", "B" or "tie"}``: the candidate against the target.

    Judges prefer what they read first, or last. So each is asked twice, with the candidate as reply
    A and as reply B, and only a reply that is better in both orders wins; all else is a tie
    (Zheng et al., "Judging LLM-as-a-judge with MT-Bench and Chatbot Arena", 2023). The value is 1
    for a win, 0.5 for a tie and 0 for a loss, so its mean is the win rate.

    Attributes:
        minimum: the least correct value: 0.5, or 1 where a tie is not enough.
        swapped: whether the candidate is shown as reply B.
    """

    minimum: float = 0.5
    swapped: bool = False
    kind: ClassVar[str] = "comparison"
    lowest: ClassVar[float] = 0.0
    highest: ClassVar[float] = 1.0
    criteria: ClassVar[tuple[str, ...]] = ()
    labels: ClassVar[tuple[str, ...]] = tuple(VALUES)
    properties: ClassVar[Mapping[str, Json]] = {
        REASON: {"type": "string"},
        _KEY: {"type": "string", "enum": [*_SHOWN]},
    }

    def __post_init__(self) -> None:
        """Raise ValueError for a minimum that no value is held against."""
        if self.minimum not in (VALUES[TIE], VALUES[WIN]):
            msg = (
                f"minimum is {self.minimum:g}; of a comparison it is 0.5 (a tie is correct) or 1 "
                "(only a win is)"
            )
            raise ValueError(msg)

    @property
    def options(self) -> dict[str, Json]:
        """The options of a task that give this scale."""
        return {"scale": "pairwise", **self.deciding}

    @property
    def deciding(self) -> dict[str, Json]:
        """The least correct value, which the judge is not told."""
        return {"minimum": self.minimum}

    @property
    def orders(self) -> tuple[PairwiseScale, PairwiseScale]:
        """The scale with the candidate as reply A, and as reply B."""
        return replace(self, swapped=False), replace(self, swapped=True)

    def form(self, passes: str) -> str:  # noqa: ARG002 - the port's
        """Return the paragraph that tells the judge what to reply."""
        return (
            f'{ONE_OBJECT}{{{SENTENCE}, "{_KEY}": "A", "B" or "{TIE}"}}\n'
            f"{_KEY} names the better reply; it is {TIE} when neither is."
        )

    def read(self, reply: str) -> Verdict | None:
        """Return the verdict that a reply consists of, from the candidate's side."""
        found = decisions(reply, (_KEY,))
        if found is None:
            return None
        shown = found[0][_KEY]
        if not isinstance(shown, str) or shown not in _SHOWN:
            return None
        if shown == TIE:
            return self._verdict(TIE, found[1])
        return self._verdict(LOSS if (shown == "A") is self.swapped else WIN, found[1])

    def combined(self, verdicts: Sequence[Verdict | None]) -> Verdict | None:
        """Return the first verdict with the label that more than half have."""
        return winning(verdicts, attrgetter("label"))

    def is_settled(self, verdicts: Sequence[Verdict | None], left: int) -> bool:
        """Whether a label has won, or none can any more."""
        return is_settled(verdicts, attrgetter("label"), left)

    def joined(self, verdicts: Sequence[Verdict | None]) -> Verdict | None:
        """Return what the verdicts of both orders amount to; None if one of them is missing."""
        as_a, as_b = verdicts
        if as_a is None or as_b is None:
            return None
        if as_a.label == as_b.label:
            return as_a
        reason = (
            f"as reply A a {as_a.label}: {as_a.reason} As reply B a {as_b.label}: {as_b.reason}"
        )
        return self._verdict(TIE, reason)

    def shortfall(self, value: float | None, label: str | None) -> str:  # noqa: ARG002 - the port's
        """Return what a verdict that is not correct says."""
        return f"a {label} against the target"

    def _verdict(self, label: str, reason: str) -> Verdict:
        value = VALUES[label]
        return Verdict(correct=value >= self.minimum, value=value, label=label, reason=reason)

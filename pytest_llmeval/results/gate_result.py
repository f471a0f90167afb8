"""The result of a gate over a run."""

from __future__ import annotations

from typing import Literal, TypeAlias

from pytest_llmeval.records import Json, Record
from pytest_llmeval.results.gate import Bounds

RuleStatus: TypeAlias = Literal["pass", "fail", "inconclusive", "missing"]
"""``inconclusive``: so few samples cannot decide; ``missing``: the run has no such figure."""


class RuleResult(Record, frozen=True, kw_only=True, rename={"status": "verdict"}):
    """How one rule came out on one task under one model.

    `reason` says why it did not pass; `baseline` is the value it was compared with, if any.
    """

    task: str
    model: str
    metric: str
    value: float | None
    bounds: Bounds
    status: RuleStatus
    reason: str = ""
    baseline: float | None = None


class GateResult(Record, frozen=True, kw_only=True):
    """All rules of a gate with their results; `inconclusive_passes` as in its file."""

    results: tuple[RuleResult, ...] = ()
    inconclusive_passes: bool = False

    @property
    def passed(self) -> bool:
        """Whether every rule was met; a run without any result does not pass."""
        return bool(self.results) and not self.unmet

    @property
    def unmet(self) -> tuple[RuleResult, ...]:
        """The rules because of which the gate does not pass."""
        met = {"pass", "inconclusive"} if self.inconclusive_passes else {"pass"}
        return tuple(result for result in self.results if result.status not in met)

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form, which says first whether the gate passed."""
        return {"passed": self.passed, **super().to_json()}

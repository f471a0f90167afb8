"""What a judge's ballot on one answer came to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

from pytest_llmeval.records import Json, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The verdict (None: unscored), why, how the votes fell, and which judge gave it."""

    verdict: Verdict | None
    explanation: str
    tally: Mapping[str, Json] = field(default_factory=dict)
    judge: str = ""

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        equivalent = None if self.verdict is None else self.verdict.equivalent
        return {
            "equivalent": equivalent,
            "explanation": self.explanation,
            "tally": dict(self.tally),
            "judge": self.judge,
        }

    @classmethod
    def from_json(cls, data: dict[str, Json]) -> Judgement:
        """Return the judgement that `to_json` wrote."""
        explanation, equivalent = str(data["explanation"]), data["equivalent"]
        return cls(
            verdict=None if equivalent is None else Verdict(equivalent=bool(equivalent), reason=explanation),
            explanation=explanation,
            tally=cast("dict[str, Json]", data["tally"]),
            judge=str(data["judge"]),
        )

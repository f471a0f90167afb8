"""What was decided about one answer, by whom, and what each judge said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, cast

from pytest_llmeval.records import Json, Verdict
from pytest_llmeval.records.score import DECIDED_BY, OPINIONS

Decider: TypeAlias = Literal["symbolic", "judge"]
"""Who decided: the rules that need no model, or a model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """One judge's verdict on one answer.

    `equivalent` None means that it gave none. `votes` are its votes in order, None for a lost one;
    asking stopped when the outcome of all `wanted` votes was certain.
    """

    judge: str
    equivalent: bool | None
    reason: str
    votes: tuple[bool | None, ...] = ()
    wanted: int = 1

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return {
            "judge": self.judge,
            "equivalent": self.equivalent,
            "reason": self.reason,
            "votes": [*self.votes],
            "wanted": self.wanted,
        }

    @classmethod
    def from_json(cls, data: dict[str, Json]) -> Opinion:
        """Return the opinion that `to_json` wrote."""
        return cls(
            judge=str(data["judge"]),
            equivalent=cast("bool | None", data["equivalent"]),
            reason=str(data["reason"]),
            votes=tuple(cast("list[bool | None]", data["votes"])),
            wanted=cast("int", data["wanted"]),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The verdict (None: unscored), why, who decided (None: nobody), how all votes fell, and what each judge said.

    `judge` names the judges that were asked, or the version of the rules.
    """

    verdict: Verdict | None
    explanation: str
    tally: Mapping[str, Json] = field(default_factory=dict)
    judge: str = ""
    decided_by: Decider | None = None
    opinions: tuple[Opinion, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        equivalent = None if self.verdict is None else self.verdict.equivalent
        return {
            "equivalent": equivalent,
            "explanation": self.explanation,
            "tally": dict(self.tally),
            "judge": self.judge,
            DECIDED_BY: self.decided_by,
            OPINIONS: [opinion.to_json() for opinion in self.opinions],
        }

    @classmethod
    def from_json(cls, data: dict[str, Json]) -> Judgement:
        """Return the judgement that `to_json` wrote."""
        explanation, equivalent = str(data["explanation"]), data["equivalent"]
        return cls(
            verdict=None
            if equivalent is None
            else Verdict(equivalent=bool(equivalent), reason=explanation),
            explanation=explanation,
            tally=cast("dict[str, Json]", data["tally"]),
            judge=str(data["judge"]),
            decided_by=cast("Decider | None", data[DECIDED_BY]),
            opinions=tuple(map(Opinion.from_json, cast("list[dict[str, Json]]", data[OPINIONS]))),
        )

    @property
    def details(self) -> dict[str, Json]:
        """What a score keeps of it; a verdict of nobody known is that of a judge of one's own."""
        data = self.to_json()
        data[DECIDED_BY] = self.decided_by or ("judge" if self.verdict else None)
        return {name: data[name] for name in (DECIDED_BY, "judge", "tally", OPINIONS)}


def panel_name(judges: Sequence[str]) -> str:
    """Return what several judges are called together."""
    return " + ".join(judges)


def majority(opinions: Sequence[Opinion]) -> tuple[Verdict | None, str]:
    """Return what more than half of the judges find, and why; None when no side has so many.

    A judge without a verdict helps neither side. The reason is the first one's of the winning side.
    """
    for side in (True, False):
        agreeing = [opinion for opinion in opinions if opinion.equivalent is side]
        if len(agreeing) * 2 > len(opinions):
            reason = agreeing[0].reason
            told = (
                reason
                if len(opinions) == 1
                else f"{len(agreeing)} of {len(opinions)} judges: {reason}"
            )
            return Verdict(equivalent=side, reason=told), told
    if len(opinions) == 1:
        return None, opinions[0].reason
    said = {True: "equivalent", False: "different", None: "no verdict"}
    stand = ", ".join(f"{opinion.judge} {said[opinion.equivalent]}" for opinion in opinions)
    return None, f"the judges decide nothing: {stand}"

"""A rubric: several criteria in one reply, each with a value of its own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from msgspec.structs import replace

from pytest_llmeval.records import Json, Verdict
from pytest_llmeval.scoring.judge.rating_scale import RatingScale, mean
from pytest_llmeval.scoring.judge.reply import ONE_OBJECT, REASON, SENTENCE, decisions
from pytest_llmeval.scoring.judge.verdict_scale import VerdictScale

_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rubric:
    """``{"reason": "...", "accuracy": 7, "style": 9}``: a decision on `scale` for each criterion.

    The value is the mean of the criteria. Ratings are correct from the scale's `minimum` on; of
    verdicts all must hold.

    Attributes:
        wanted: each criterion's name, and what it asks.
        scale: what each criterion is answered by.
    """

    wanted: tuple[tuple[str, str], ...]
    scale: VerdictScale | RatingScale
    kind: ClassVar[str] = "rubric"
    labels: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        """Raise ValueError for a criterion that cannot be a key, or that asks nothing."""
        for name, asks in self.wanted:
            if not _NAME.fullmatch(name) or name == REASON:
                msg = (
                    f"criteria: {name!r} cannot be the name of one; write letters, digits, _ and "
                    f"-, a letter first, and not {REASON!r}"
                )
                raise ValueError(msg)
            if not asks.strip():
                msg = f"criteria: {name!r} says nothing; write what the judge looks at"
                raise ValueError(msg)

    @property
    def lowest(self) -> float:
        """That of each criterion."""
        return self.scale.lowest

    @property
    def highest(self) -> float:
        """That of each criterion."""
        return self.scale.highest

    @property
    def criteria(self) -> tuple[str, ...]:
        """The names of the criteria."""
        return tuple(name for name, _ in self.wanted)

    @property
    def properties(self) -> dict[str, Json]:
        """The JSON schema of the reply's keys."""
        schema = dict(self.scale.schema)
        return {REASON: {"type": "string"}, **dict.fromkeys(self.criteria, schema)}

    @property
    def options(self) -> dict[str, Json]:
        """The options of a task that give this scale."""
        return {**self.scale.options, "criteria": dict(self.wanted)}

    @property
    def deciding(self) -> dict[str, Json]:
        """What decides, of the scale."""
        return dict(self.scale.deciding)

    def form(self, passes: str) -> str:  # noqa: ARG002 - the port's
        """Return the paragraph that tells the judge what to reply."""
        keys = "".join(f', "{name}": {self.scale.words}' for name in self.criteria)
        asked = "".join(f"\n- {name}: {asks.strip()}" for name, asks in self.wanted)
        return f"{ONE_OBJECT}{{{SENTENCE}{keys}}}\nEach of these {self.scale.each}:{asked}"

    def read(self, reply: str) -> Verdict | None:
        """Return the verdict that a reply consists of; None if it is unusable."""
        found = decisions(reply, self.criteria)
        if found is None:
            return None
        values: dict[str, float] = {}
        for name in self.criteria:
            if (number := self.scale.number(found[0][name])) is None:
                return None
            values[name] = float(number)
        given = [*values.values()]
        return Verdict(
            correct=self.scale.is_correct(given),
            value=mean(given),
            criteria=values,
            reason=found[1],
        )

    def combined(self, verdicts: Sequence[Verdict | None]) -> Verdict | None:
        """Return the mean of each criterion; correct is what the scale makes of the verdicts."""
        found = self.scale.combined(verdicts)
        if found is None:
            return None
        given = [one for one in verdicts if one is not None]
        means = {name: mean([one.criteria[name] for one in given]) for name in self.criteria}
        return replace(found, value=mean([*means.values()]), criteria=means)

    def is_settled(self, verdicts: Sequence[Verdict | None], left: int) -> bool:  # noqa: ARG002 - the port's
        """Every verdict counts for the means."""
        return left == 0

    def shortfall(self, value: float | None, label: str | None) -> str:
        """Return what a verdict that is not correct says."""
        return self.scale.shortfall(value, label)

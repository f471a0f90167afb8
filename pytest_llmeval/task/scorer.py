"""How a task's answers are scored."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Field

from pytest_llmeval.task.part import Part, refusal, shown
from pytest_llmeval.task.spec import one_key

EedMode: TypeAlias = Literal["published", "corrected"]


class EedScorer(Part):
    """Expression edit distance, 0..100; right from `minimum` on. `also` is a second mode that is shown beside."""

    kind: Literal["eed"] = "eed"
    mode: EedMode = "corrected"
    minimum: Annotated[float, Field(ge=0, le=100)] = 100.0
    also: EedMode | None = None


class SldpScorer(Part):
    """SLDP equality; numbers and coordinates are equal when they differ by less than `tolerance`."""

    kind: Literal["sldp"] = "sldp"
    tolerance: Annotated[float, Field(ge=0)] = 0.01
    case_sensitive: bool = False


class JudgeScorer(Part):
    """A judge's verdict on equivalence; its settings stand under the task's `judge`."""

    kind: Literal["judge"] = "judge"


Scorer: TypeAlias = EedScorer | SldpScorer | JudgeScorer

_KINDS = ("eed", "sldp", "judge")


def _tagged(value: Any) -> Any:  # noqa: ANN401 - what stands in the file
    """Turn ``{eed: {mode: ...}}`` into ``{kind: eed, mode: ...}``, which pydantic tells apart and locates alike."""
    if value is None or isinstance(value, EedScorer | SldpScorer | JudgeScorer):
        return value
    kind, options = one_key(value, "scorer")
    if kind not in _KINDS:
        raise refusal((), f"is {kind!r}", given=kind, allowed=_KINDS)
    if not isinstance(options, dict):
        raise refusal((kind,), f"has the options {shown(options)}, not a mapping")
    if "kind" in options:
        raise refusal((kind, "kind"), "is no key here")
    return {**options, "kind": kind}


ScorerField = Annotated[Annotated[Scorer, Field(discriminator="kind")] | None, BeforeValidator(_tagged)]
"""``eed``, ``sldp`` or ``judge``, alone or with options; absent: the test decides on its own."""

"""How a task's answers are scored."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import BeforeValidator, Discriminator, Field, Tag

from pytest_llmeval.task.part import Part, refusal
from pytest_llmeval.task.spec import one_key

EedMode: TypeAlias = Literal["published", "corrected"]


class EedScorer(Part):
    """Expression edit distance, 0..100; right from `minimum` on.

    `also` is a second mode that is shown beside.
    """

    kind: ClassVar[Literal["eed"]] = "eed"
    mode: EedMode = "corrected"
    minimum: Annotated[float, Field(ge=0, le=100)] = 100.0
    also: EedMode | None = None


class SldpScorer(Part):
    """SLDP equality; numbers and coordinates are equal when they differ by less than `tolerance`."""

    kind: ClassVar[Literal["sldp"]] = "sldp"
    tolerance: Annotated[float, Field(ge=0)] = 0.01
    case_sensitive: bool = False


class JudgeScorer(Part):
    """A judge's verdict on equivalence; its settings stand under the task's `judge`."""

    kind: ClassVar[Literal["judge"]] = "judge"


Scorer: TypeAlias = EedScorer | SldpScorer | JudgeScorer

_KINDS = ("eed", "sldp", "judge")


def _named(value: Any) -> Any:  # noqa: ANN401 - what stands in the file
    if value is None:
        return None
    kind, options = one_key(value, "scorer")
    if kind not in _KINDS:
        raise refusal((), f"is {kind!r}", given=kind, allowed=_KINDS)
    return kind, options


def _kind(value: tuple[str, Any]) -> str:
    return value[0]


_OPTIONS = BeforeValidator(lambda value: value[1])

ScorerField = Annotated[
    # The tags stand in pydantic's location of an error just where the kinds stand in the file.
    Annotated[
        Annotated[EedScorer, _OPTIONS, Tag("eed")]
        | Annotated[SldpScorer, _OPTIONS, Tag("sldp")]
        | Annotated[JudgeScorer, _OPTIONS, Tag("judge")],
        Discriminator(_kind),
    ]
    | None,
    BeforeValidator(_named),
]
"""``eed``, ``sldp`` or ``judge``, alone or with options; absent: the test decides on its own."""

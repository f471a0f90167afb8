"""The built-in templates of a judge, each with what it asks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final

from pytest_llmeval.scoring.judge.pairwise_scale import PairwiseScale
from pytest_llmeval.scoring.judge.rating_scale import RatingScale
from pytest_llmeval.scoring.judge.scale import Scale
from pytest_llmeval.scoring.judge.template import Template
from pytest_llmeval.scoring.judge.verdict_scale import VerdictScale

FOLDER: Final = Path(__file__).with_name("prompts")
"""Where the templates are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltIn:
    """What a built-in template brings.

    Attributes:
        version: its name in graders; changes with every change of its words.
        passes: what is true of a correct answer.
        scale: the scale, unless a task gives another one.
        equivalence: whether it compares a final answer with the target. Then it has no other scale.
    """

    version: str
    passes: str
    scale: Scale = field(default_factory=VerdictScale)
    equivalence: bool = False

    @property
    def needs_target(self) -> bool:
        """Whether it asks nothing sensible without a target."""
        return self.equivalence or isinstance(self.scale, PairwiseScale)


EQUIVALENCE: Final = "equivalence"
"""The template that is asked where a task names none."""

BUILT_IN: Final[Mapping[str, BuiltIn]] = {
    EQUIVALENCE: BuiltIn(
        version="judge/1", passes="the final answer is equivalent", equivalence=True
    ),
    "published": BuiltIn(
        version="published/1", passes="the final answer is equivalent", equivalence=True
    ),
    "faithfulness": BuiltIn(version="faithfulness/1", passes="every claim is supported"),
    "instructions": BuiltIn(version="instructions/1", passes="every demand is met"),
    "helpfulness": BuiltIn(
        version="helpfulness/1",
        passes="the reply is helpful",
        scale=RatingScale(low=1, high=10, minimum=7),
    ),
    "comparison": BuiltIn(
        version="comparison/1", passes="the reply is the better one", scale=PairwiseScale()
    ),
}
"""The templates by name."""


@cache
def built_in_template(name: str) -> Template:
    """Return a template of BUILT_IN."""
    return Template.read(FOLDER / f"{name}.md", place=f"the judge's prompt {name}")

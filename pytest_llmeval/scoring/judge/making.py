"""Makes the scorer ``judge`` from the options of a task."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Final

from pytest_llmeval.records import Json, Role
from pytest_llmeval.scoring.judge.built_in import BUILT_IN, EQUIVALENCE
from pytest_llmeval.scoring.judge.label_scale import LabelScale
from pytest_llmeval.scoring.judge.pairwise_scale import PairwiseScale
from pytest_llmeval.scoring.judge.prompt import JudgePrompt, built_in_prompt
from pytest_llmeval.scoring.judge.rating_scale import RatingScale
from pytest_llmeval.scoring.judge.rubric import Rubric
from pytest_llmeval.scoring.judge.scale import Scale
from pytest_llmeval.scoring.judge.scorer import JudgeScorer
from pytest_llmeval.scoring.judge.template import Template
from pytest_llmeval.scoring.judge.verdict_scale import VerdictScale

SCALES: Final = (
    "verdict, [low, high] for ratings in whole numbers, {labels: [...], correct: [...]}, "
    "or pairwise"
)
"""The forms of the option ``scale``."""

_NO_CRITERIA: Final[Mapping[str, str]] = {}


class NamedPrompt:
    """Makes the option ``prompt``: the name of a built-in template, or a file."""

    def make(self, value: Json, folder: Path) -> JudgePrompt:
        """Return the prompt on its own scale; relative paths start from `folder`.

        Raises:
            TaskError: the file is no template; with file and line.
            ValueError: there is no such template.
        """
        if isinstance(value, str) and value in BUILT_IN:
            return built_in_prompt(str(value))
        if not isinstance(value, str) or not ("/" in value or "." in value):
            near = difflib.get_close_matches(str(value), BUILT_IN, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            msg = (
                f"is {value!r}{hint} (allowed: {', '.join(BUILT_IN)}, or a file beside the task "
                "such as ./judge.md)"
            )
            raise ValueError(msg)
        file = (folder / value).resolve()
        return JudgePrompt(source=str(file), template=Template.read(file), scale=VerdictScale())


def judge_scorer(  # noqa: PLR0913 - each is an option of a task
    *,
    name: str = "judge",
    prompt: Annotated[JudgePrompt | None, NamedPrompt()] = None,
    scale: object = None,
    minimum: float | None = None,
    criteria: dict[str, str] | None = None,
    votes: int = 1,
    prefilter: bool | None = None,
    models: tuple[str, ...] = (),
    role: Role = "judge",
    pictures: bool = False,
) -> JudgeScorer:
    """Return the scorer of a task's options.

    Args:
        name: the name of the score, and the heading of its column.
        prompt: what is asked; `equivalence` without one.
        scale: one of SCALES; None takes the prompt's own.
        minimum: the least rating that is correct.
        criteria: of a rubric, by name what the judge looks at.
        votes: how often each judge is asked about one answer.
        prefilter: whether plain answers are decided by rules; None where the prompt allows it.
        models: specs of the judges, unless the command line names others.
        role: whose models of the run are asked.
        pictures: whether the sample's pictures are sent to the judges.

    Raises:
        ValueError: an option is invalid, or two of them do not fit.
    """
    asked = prompt or built_in_prompt()
    found = _scale(scale, minimum, criteria or _NO_CRITERIA, asked.scale)
    if asked.asks_equivalence and found != asked.scale:
        msg = (
            f"the prompt {asked.source} asks for a verdict and nothing else; with a scale or "
            "criteria of your own name a prompt that asks for them: helpfulness, or ./judge.md"
        )
        raise ValueError(msg)
    if asked.source in BUILT_IN and _compares(found) is not _compares(asked.scale):
        msg = (
            f"the prompt {asked.source} asks about {_replies(asked.scale)}, and scale is about "
            f"{_replies(found)}; take the prompt comparison with pairwise, or a file of your own"
        )
        raise ValueError(msg)
    return JudgeScorer(
        name=name,
        prompt=replace(asked, scale=found),
        votes=votes,
        prefilter=asked.source == EQUIVALENCE if prefilter is None else prefilter,
        models=models,
        role=role,
        pictures=pictures,
    )


def _compares(scale: Scale) -> bool:
    return isinstance(scale, PairwiseScale)


def _replies(scale: Scale) -> str:
    return "two replies" if _compares(scale) else "one reply"


def _scale(option: object, minimum: float | None, criteria: Mapping[str, str], own: Scale) -> Scale:
    """Return the scale that the options give, or a prompt's own where they give none."""
    found = own if option is None else _named_scale(option, minimum)
    if minimum is not None:
        if not isinstance(found, RatingScale | PairwiseScale):
            msg = f"minimum is {minimum:g}, and there are no ratings; add scale: [1, 10]"
            raise ValueError(msg)
        found = replace(found, minimum=minimum)
    if not criteria:
        return found
    if not isinstance(found, VerdictScale | RatingScale):
        msg = "criteria are rated or hold, and have no labels; take scale: [low, high] or verdict"
        raise ValueError(msg)  # noqa: TRY004 - the value of an option
    return Rubric(wanted=tuple(criteria.items()), scale=found)


def _named_scale(option: object, minimum: float | None) -> Scale:
    match option:
        case "verdict":
            return VerdictScale()
        case "pairwise":
            return PairwiseScale()
        case [int(low), int(high)] if type(low) is type(high) is int:
            if minimum is None:
                msg = (
                    f"scale is [{low}, {high}], and nothing says which rating is correct; add the "
                    f"least one, such as minimum: {high}"
                )
                raise ValueError(msg)
            return RatingScale(low=low, high=high, minimum=minimum)
        case {"labels": list(labels), "correct": list(correct), **rest} if not rest:
            if all(isinstance(label, str) for label in (*labels, *correct)):
                return LabelScale(labels=tuple(labels), correct=tuple(correct))
        case {"labels": list(), **rest} if not rest:
            msg = (
                "scale has labels, and nothing says which of them a correct answer has; add "
                "correct: [...]"
            )
            raise ValueError(msg)
    msg = f"scale is {option!r}; write {SCALES}"
    raise ValueError(msg)

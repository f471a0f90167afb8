"""Targets and scorers: which targets a scorer can use, and what several texts mean for a score.

Most scorers compare with one text. Of several texts any is right, so each is scored, and the best
score counts. A scorer that can use other forms says so by an attribute ``targets``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Final

from msgspec.structs import replace

from pytest_llmeval.records import Json, Sample, Score, Target, TargetForm, target_form
from pytest_llmeval.scoring.scorer import Scorer

ALL_FORMS: Final[frozenset[TargetForm]] = frozenset({"text", "list", "mapping", "none"})
"""The attribute ``targets`` of a scorer that takes every target as it is."""

_TEXT: Final[frozenset[TargetForm]] = frozenset({"text"})

_FIXES: Final = {
    "none": "name the column of the reference answer in dataset.fields.target, drop such rows with "
    "dataset.keep, or take a scorer that needs none",
    "mapping": "name a column of texts in dataset.fields.target, or score it by a function of your "
    "own: ./scorers.py:mine",
}


def check_target(scorer: Scorer, target: Target) -> None:
    """Raise ValueError, with the fix, if a scorer cannot score answers against `target`."""
    check_form(scorer, target)
    check: Callable[[Any], None] = scorer.check
    if isinstance(target, tuple) and "list" not in _forms(scorer):
        for text in target:
            check(text)
    else:
        check(target)


def check_form(scorer: Scorer, target: Target) -> None:
    """Raise ValueError, with the fix, if a scorer cannot use targets of the form of `target`."""
    form = target_form(target)
    if not takes_form(scorer, target):
        is_what = {"none": "there is no target", "mapping": "the target is a mapping"}
        msg = (
            f"{is_what.get(form, 'the target is a list')}, and the scorer {scorer.name!r} "
            f"compares with a text; {_FIXES.get(form, _FIXES['mapping'])}"
        )
        raise ValueError(msg)


def takes_form(scorer: Scorer, target: Target) -> bool:
    """Return whether a scorer can use targets of the form of `target`."""
    form, forms = target_form(target), _forms(scorer)
    return form in forms or (form == "list" and "text" in forms)


def score_of(scorer: Scorer, answer: str | None, sample: Sample, prepared: Json) -> Score:
    """Return a scorer's score of an answer; of several texts as target that of the best one.

    A correct score is better than an undecided one, and that than an incorrect one; of equals the
    higher value counts, then the earlier text.
    """
    __tracebackhide__ = True
    target = sample.target
    if not isinstance(target, tuple) or "list" in _forms(scorer):
        return scorer.score(answer, sample, prepared)
    scores = []
    for text in target:
        scores.append(scorer.score(answer, replace(sample, target=text), prepared))
        if scores[-1].correct:
            break
    return max(scores, key=_goodness)


def _goodness(score: Score) -> tuple[int, float]:
    decision = {True: 2, None: 1, False: 0}[score.correct]
    return decision, -1.0 if score.value is None else score.value


def _forms(scorer: Scorer) -> Collection[TargetForm]:
    forms: Collection[TargetForm] = getattr(scorer, "targets", _TEXT)
    return forms

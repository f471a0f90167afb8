"""Expression edit distance between two LaTeX formulas: the candidate first, the truth second."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from pytest_llmeval.scoring.eed import corrected, published, reading
from pytest_llmeval.scoring.eed.distance import (
    PUBLISHED_WEIGHTS,
    ScoreFunction,
    TreeDistance,
    Weights,
    published_score,
)
from pytest_llmeval.scoring.eed.edits import edit_script
from pytest_llmeval.scoring.eed.guards import Refused, check_text
from pytest_llmeval.scoring.eed.marked import MarkedTrees
from pytest_llmeval.scoring.eed.result import FULL_SCORE, EedResult, Mode, reading_of
from pytest_llmeval.scoring.eed.stages import Stage, unlimited
from pytest_llmeval.scoring.eed.target_cache import TargetCache
from pytest_llmeval.scoring.eed.tree import Node

_SHOWN = 2_000  # characters of a formula in a result


def eed_score(
    answer: str | None,
    target: str,
    *,
    mode: Mode = "corrected",
    weights: Weights = PUBLISHED_WEIGHTS,
    score: ScoreFunction = published_score,
) -> EedResult:
    r"""Return how near an answer comes to the target, 0..100 (PHYBench, arXiv 2504.16074).

    100 means equal; else ``max(0, 60 - 100 d/n)``, with d the edit distance from answer to target
    and n the target's number of nodes. ``"corrected"`` reads LaTeX as physicists write it and takes
    symbols for positive; ``"published"`` reproduces the public metric, quirks included. A malformed
    or empty answer scores 0 with a reason; nothing is ever raised for what the texts say. A target
    that the corrected mode cannot read says nothing of the answer: the result reads ``"unreadable
    target"``, and its 0 counts for nobody.

    Runs in this process, without time or memory limits: for formulas that nobody has looked at, use
    `pytest_llmeval.scoring.eed.Sandbox` or `eed_score_many`.
    """
    return score_pair(answer, target, mode=mode, weights=weights).rescored(score)


def score_pair(  # noqa: PLR0913 - the options of eed_score, and what a child adds
    answer: str | None,
    target: str,
    *,
    mode: Mode = "corrected",
    weights: Weights = PUBLISHED_WEIGHTS,
    stage: Stage = unlimited,
    cache: TargetCache | None = None,
) -> EedResult:
    """Return the result under the published scoring function, stages limited by `stage`, targets kept in `cache`."""
    if answer is None or not answer.strip():
        return EedResult.unreadable(mode, "no answer")
    try:
        check_text(answer)
        match mode:
            case "corrected":
                return _corrected(answer, target, weights, stage, cache)
            case "published":
                return _published(answer, target, weights, stage, cache)
            case _:
                assert_never(mode)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - sympy raises anything; what a model wrote must never break a run
        return EedResult.unreadable(mode, _told(error))


def expressions_equivalent(answer: str, target: str, *, stage: Stage = unlimited) -> bool:
    """Return whether two LaTeX formulas are certainly equal (corrected reading); False when either is unreadable.

    Runs in this process, like `eed_score`; `Sandbox.equivalent` asks a child.
    """
    try:
        check_text(answer)
        check_text(target)
        answer, target = corrected.with_shared_subscripts(answer, target)
        mine, goal, _ = corrected.settled(reading.read(answer), corrected.read_target(target))
        return corrected.equal(mine, goal, stage)
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - as in score_pair; what cannot be evaluated is not certainly equal
        return False


def _told(error: Exception) -> str:
    """Return why a formula has no value to compare."""
    if isinstance(error, Refused):
        return str(error)
    if isinstance(error, RecursionError):
        return "nested too deeply"
    first_line = (str(error).splitlines() or [""])[0][:200]
    return f"cannot be evaluated: {type(error).__name__}: {first_line}"


def _corrected(
    answer: str, target: str, weights: Weights, stage: Stage, cache: TargetCache | None
) -> EedResult:
    if reading.same_text(answer, target):
        return _equivalent("corrected", "identical text")
    try:
        check_text(target)
        answer, target = corrected.with_shared_subscripts(answer, target)
        goal = corrected.read_target(target)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - as in score_pair, but this is not the answer's fault
        return EedResult.unreadable_target("corrected", _told(error))
    mine, goal, assumptions = corrected.settled(reading.read(answer), goal)
    shown = _Shown(answer=mine.formula, target=goal.formula, assumptions=assumptions)
    if corrected.equal(mine, goal, stage):
        return _equivalent("corrected", "equal to the target", shown)
    return _compared("corrected", corrected.trees(mine, goal, stage, cache), weights, shown)


def _published(
    answer: str, target: str, weights: Weights, stage: Stage, cache: TargetCache | None
) -> EedResult:
    check_text(target)
    guarded = published.guard(answer, target)
    if guarded == published.IDENTICAL:
        return _equivalent("published", guarded)
    if guarded:
        return EedResult.unreadable("published", guarded)
    known = published.read_target(target, stage, cache)
    goal, mine = known.simplified, published.read_answer(answer, known, stage)
    shown = _Shown(answer=mine, target=goal)
    if published.equal(mine, goal, stage):
        return _equivalent("published", "equal to the target", shown)
    return _compared("published", published.trees(mine, goal), weights, shown)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shown:
    """What a result shows of the formulas: as read, and what was assumed."""

    answer: object = ""
    target: object = ""
    assumptions: tuple[str, ...] = ()


def _equivalent(mode: Mode, reason: str, shown: _Shown = _Shown()) -> EedResult:
    return EedResult(
        mode=mode,
        score=FULL_SCORE,
        reading="equivalent",
        reason=reason,
        relative_distance=0.0,
        distance=0.0,
        answer=_short(shown.answer),
        target=_short(shown.target),
        assumptions=shown.assumptions,
    )


def _compared(mode: Mode, trees: tuple[Node, Node], weights: Weights, shown: _Shown) -> EedResult:
    found = TreeDistance(*trees, weights)
    size = len(found.target)
    value = published_score(found.value, size)
    edits = edit_script(found)
    return EedResult(
        mode=mode,
        score=value,
        reading="equivalent" if found.value == 0 else reading_of(value),
        reason=f"distance {found.value:g} of {size} nodes",
        relative_distance=found.value / size,
        tree_size=size,
        distance=found.value,
        edits=edits,
        trees=MarkedTrees.of(found, edits),
        answer=_short(shown.answer),
        target=_short(shown.target),
        assumptions=shown.assumptions,
    )


def _short(formula: object) -> str:
    text = str(formula)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."

"""Expression edit distance between two LaTeX formulas, answer first and target second."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

import sympy

from pytest_llmeval.scoring.eed.metric.comparison import nearest_distance
from pytest_llmeval.scoring.eed.metric.distance import (
    PUBLISHED_WEIGHTS,
    ScoreFunction,
    TreeDistance,
    Weights,
    published_score,
)
from pytest_llmeval.scoring.eed.metric.edits import edit_script
from pytest_llmeval.scoring.eed.metric.expression import tree
from pytest_llmeval.scoring.eed.metric.marked import MarkedTrees
from pytest_llmeval.scoring.eed.published import published
from pytest_llmeval.scoring.eed.reader.answer import Answer, Collection, Region
from pytest_llmeval.scoring.eed.reader.guards import FormulaError, check_text, reason_of
from pytest_llmeval.scoring.eed.reader.pair import Pair, TargetError, read_one, read_pair
from pytest_llmeval.scoring.eed.reader.tokens import tokens_of
from pytest_llmeval.scoring.eed.result import (
    CONVENTIONS,
    FULL_SCORE,
    Convention,
    EedResult,
    Mode,
    reading_of,
)
from pytest_llmeval.scoring.eed.time_limit import TimeLimit, unlimited
from pytest_llmeval.scoring.eed.value.answers import equal_readings
from pytest_llmeval.scoring.eed.value.regions import region_of

_SHOWN = 2_000  # characters of a formula in a result


def eed_score(  # noqa: PLR0913 - one keyword a choice
    answer: str | None,
    target: str,
    *,
    mode: Mode = "corrected",
    weights: Weights = PUBLISHED_WEIGHTS,
    score: ScoreFunction = published_score,
    conventions: Sequence[Convention] = (),
) -> EedResult:
    r"""Return the similarity of an answer to the target, 0..100 (PHYBench, arXiv 2504.16074).

    The score is 100 for equality, else ``max(0, 60 - 100 d/n)``, where d is the edit distance from
    the answer's tree to the target's and n the number of nodes of the target's tree.

    Nothing in the texts raises an exception. A malformed or empty answer scores 0 with a reason. If
    the corrected mode cannot read the target, the reading is ``"unreadable target"`` and the score
    decides nothing about the answer.

    Runs in this process, without limits on time or memory. For formulas that a model wrote use
    `Sandbox` or `eed_score_many`.

    Args:
        answer: LaTeX of the answer; None for none.
        target: LaTeX of the target.
        mode: ``"corrected"`` reads LaTeX as physicists write it and assumes positive symbols;
            ``"published"`` reproduces the public metric, quirks included.
        weights: costs of the edits.
        score: from distance and number of nodes to the score of answers that are not equal.
        conventions: definitions that the corrected mode assumes, such as ``"planck"``.

    Example:
        >>> result = eed_score("4 m g", "2 m g")
        >>> result.score, str(result.edits[0])
        (35.0, 'relabel 4 -> 2 under Mul')
    """
    result = score_pair(answer, target, mode=mode, weights=weights, conventions=conventions)
    return result.rescored(score)


def latex_equal(
    answer: str | None, target: str, *, conventions: Sequence[Convention] = ()
) -> bool | None:
    r"""Return whether an answer equals the target, as the corrected mode decides; no distance.

    None means that the target cannot be read, so nothing is decided. An answer that cannot be read
    is not equal. Runs in this process, without limits; see `Sandbox.equal` for what models wrote.

    Example:
        >>> latex_equal(r"x = \frac{1}{2}", "0.5"), latex_equal("1", r"\nosuchcommand")
        (True, None)
    """
    return equal_pair(answer, target, conventions=conventions)


def equal_pair(
    answer: str | None,
    target: str,
    *,
    conventions: Sequence[Convention] = (),
    time_limit: TimeLimit = unlimited,
) -> bool | None:
    """Return what `latex_equal` returns, each step under `time_limit`."""
    if answer is None or not answer.strip():
        return False
    try:
        check_text(answer)
        return _same_text(answer, target) or _decide(answer, target, time_limit, conventions)[1]
    except TargetError:
        return None
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - as in score_pair
        return False


def target_error(target: str) -> str:
    """Return why the corrected mode cannot read a target; "" if it can."""
    try:
        read_one(target)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - as in score_pair
        return reason_of(error)
    return ""


def score_pair(  # noqa: PLR0913 - the choices of eed_score, and the limit
    answer: str | None,
    target: str,
    *,
    mode: Mode = "corrected",
    weights: Weights = PUBLISHED_WEIGHTS,
    time_limit: TimeLimit = unlimited,
    conventions: Sequence[Convention] = (),
) -> EedResult:
    """Return the result under the published scoring function, each step under `time_limit`."""
    if answer is None or not answer.strip():
        return EedResult.unreadable(mode, "no answer")
    try:
        check_text(answer)
        match mode:
            case "corrected":
                return _score_corrected(answer, target, weights, time_limit, conventions)
            case "published":
                return _score_published(answer, target, weights, time_limit)
            case _:
                assert_never(mode)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - sympy raises anything; no text may break a run
        return EedResult.unreadable(mode, reason_of(error))


def _score_corrected(
    answer: str,
    target: str,
    weights: Weights,
    time_limit: TimeLimit,
    conventions: Sequence[Convention],
) -> EedResult:
    if _same_text(answer, target):
        return _equivalent("corrected", "identical text")
    try:
        pair, equal = _decide(answer, target, time_limit, conventions)
    except TargetError as error:
        return EedResult.unreadable_target("corrected", str(error))
    ours, theirs = compared_forms(pair.answer.answer, pair.target.answer)
    assumed = (*pair.assumptions, *(CONVENTIONS[name] for name in conventions))
    # A tree's text is made much faster than sympy's.
    shown = _Shown(answer=tree(ours), target=tree(theirs), assumptions=assumed)
    if equal:
        return _equivalent("corrected", "equal to the target", shown)
    return _compared("corrected", nearest_distance(ours, theirs, weights), shown)


def _decide(
    answer: str, target: str, time_limit: TimeLimit, conventions: Sequence[Convention]
) -> tuple[Pair, bool]:
    """Return a pair as read, and whether it is equal in one of its possible readings."""
    pair = read_pair(answer, target)
    equal = equal_readings(pair.answer, pair.target, time_limit, conventions)
    if equal or not pair.doubtful:
        return pair, equal
    other = read_pair(answer, target, factors=True)
    return pair, equal_readings(other.answer, other.target, time_limit, conventions)


def compared_forms(answer: Answer, target: Answer) -> tuple[sympy.Basic, sympy.Basic]:
    """Return what is compared for partial credit.

    Of several answers to one question that is the first; a pair in brackets beside an inequality or
    interval is an interval.
    """
    if isinstance(answer, Region) != isinstance(target, Region):
        ours, theirs = region_of(answer), region_of(target)
        if ours and theirs:
            return ours.form, theirs.form
    if isinstance(answer, Collection) and not isinstance(target, Collection):
        answer = answer.members[0] if answer.kind == "several" else answer
    return answer.form, target.form


def _same_text(one: str, other: str) -> bool:
    """Return whether two texts have the same tokens, apart from layout."""
    try:
        return tokens_of(one) == tokens_of(other)
    except FormulaError:
        return False


def _score_published(
    answer: str, target: str, weights: Weights, time_limit: TimeLimit
) -> EedResult:
    check_text(target)
    guarded = published.guard(answer, target)
    if guarded == published.IDENTICAL:
        return _equivalent("published", guarded)
    if guarded:
        return EedResult.unreadable("published", guarded)
    ours = published.read(answer)  # first: more answers than targets cannot be read
    theirs = published.read_target(target)
    if published.equal_as_read(ours, theirs):
        return _equivalent("published", "equal to the target", _Shown(answer=ours, target=theirs))
    theirs = published.simplified_target(target, time_limit)
    ours = published.simplified(ours, time_limit)
    shown = _Shown(answer=ours, target=theirs)
    if published.equal(ours, theirs, time_limit):
        return _equivalent("published", "equal to the target", shown)
    found = TreeDistance(*published.trees(ours, theirs), weights)
    return _compared("published", found, shown)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shown:
    """The formulas as read, and the assumptions made, for the result."""

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


def _compared(mode: Mode, found: TreeDistance, shown: _Shown) -> EedResult:
    size = len(found.target)
    # Trees show neither names nor the order of factors: equal ones of unequal answers are one edit.
    distance = found.value or float(mode == "corrected")
    value = published_score(distance, size)
    edits = edit_script(found)
    return EedResult(
        mode=mode,
        score=value,
        reading="equivalent" if distance == 0 else reading_of(value),
        reason=f"distance {distance:g} of {size} nodes",
        relative_distance=distance / size,
        tree_size=size,
        distance=distance,
        edits=edits,
        trees=MarkedTrees.of(found, edits),
        answer=_short(shown.answer),
        target=_short(shown.target),
        assumptions=shown.assumptions,
    )


def _short(formula: object) -> str:
    text = str(formula)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."

r"""Answers that need no judge: one plain number, and equal to the target or clearly apart from it.

A prefilter saves judge calls and must never be wrong. So it decides only where the whole answer is
understood, as `read_plain` reads it, and leaves everything else to the judge. Its rules:

- Two numbers are equal when exactly so (``2√3`` and ``\sqrt{12}``, ``1/2`` and ``0.5``), or when
  the answer differs by less than half of its or the target's last decimal place and by at most
  0.2 %. A target with decimals is not met by fewer of them.
- They are different when they differ by more than that half and by more than 5 %, unless a unit, an
  angle in radians or another reading of the same signs could explain it.
- In between, and for two different units or names, nothing is decided.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal, TypeAlias

from pytest_llmeval.scoring.judge.grammar import Value
from pytest_llmeval.scoring.judge.plain_answer import DEGREE, PlainAnswer, read_plain
from pytest_llmeval.scoring.judge.radicals import RadicalSum

PREFILTER_VERSION: Final = "prefilter/4"
"""Changes with every change of the rules or limits."""

ROUNDING_SHARE: Final = Fraction(2, 1000)
"""Largest difference that rounding explains, as a share of the target (9.2 and 9.19 differ by
0.1 %)."""

CLEARLY_APART: Final = Fraction(5, 100)
"""Difference, as a share of the larger number, above which numbers are different."""

_ROUNDED_TENTH = Fraction(1, 20)
"""Half of the first decimal place: a whole number is not taken for a rounded one."""

DEGREES_OF_A_RADIAN: Final = 180 / RadicalSum.pi().approximation()

Decision: TypeAlias = Literal["equal", "different", "undecided"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainDecision:
    """The decision of the prefilter on one answer.

    Attributes:
        decision: ``equal``, ``different``, or ``undecided`` (left to the judge).
        reason: the rule that applied.
        answer: the number that the answer states; None if it is not plain.
    """

    decision: Decision
    reason: str
    answer: str | None = None


def decide_plainly(answer: str, target: str) -> PlainDecision:
    r"""Return whether an answer equals the target, if that is plain. Linear in the texts.

    Args:
        answer: what the task's answer rule took from the reply.
        target: the reference answer.

    Example:
        >>> decide_plainly("The answer is 1/2.", "0.5").decision
        'equal'
        >>> decide_plainly("It is either 1/2 or 1", "0.5").decision
        'undecided'
    """
    given = read_plain(answer)
    if given is None:
        return PlainDecision(
            decision="undecided", reason="the answer is not one plain number alone"
        )
    wanted = read_plain(target)
    if wanted is None:
        return PlainDecision(
            decision="undecided", reason="the target is no plain number", answer=given.text
        )
    decision, reason = _compared(given, wanted)
    return PlainDecision(
        decision=decision, reason=f"{reason}: {given.text} for {wanted.text}", answer=given.text
    )


def _compared(given: PlainAnswer, wanted: PlainAnswer) -> tuple[Decision, str]:
    """Return the decision on two answers, and the rule that applied."""
    for kind, ours, theirs in (
        ("units", given.unit, wanted.unit),
        ("names", given.name, wanted.name),
    ):
        if ours and theirs and ours != theirs:
            return "undecided", f"two {kind}"
    pairs = [(ours, theirs) for ours in given.values for theirs in wanted.values]
    if any(ours.number == theirs.number for ours, theirs in pairs):
        return "equal", "equal numbers"
    if any(_equal_but_for_rounding(*pair) for pair in pairs):
        return "equal", "equal but for rounding"
    if not all(_clearly_apart(*pair) for pair in pairs):
        return "undecided", "numbers close to each other, or read in two ways"
    if given.unit != wanted.unit and {given.unit, wanted.unit} != {"", DEGREE}:
        return "undecided", "a unit on one side only"
    return "different", "numbers clearly apart"


def _equal_but_for_rounding(given: Value, wanted: Value) -> bool:
    rounding = _rounding(given, wanted)
    if _coarser(given, wanted) or rounding > _ROUNDED_TENTH:
        return False
    target = wanted.number.approximation()
    gap = abs(given.number.approximation() - target)
    return gap < rounding and gap <= ROUNDING_SHARE * abs(target)


def _coarser(given: Value, wanted: Value) -> bool:
    """Whether an answer has fewer decimals than its target."""
    if given.places is None or wanted.places is None:
        return False
    return given.places < wanted.places


def _rounding(given: Value, wanted: Value) -> Fraction:
    """Return half of the last decimal place of the coarser number; 0 for two exact ones."""
    places = [side.places for side in (given, wanted) if side.places is not None]
    return Fraction(1, 2 * 10 ** min(places)) if places else Fraction(0)


def _clearly_apart(given: Value, wanted: Value) -> bool:
    if not (given.certain and wanted.certain):
        return False
    one, other = given.number.approximation(), wanted.number.approximation()
    if _far(one, other * DEGREES_OF_A_RADIAN) and _far(one * DEGREES_OF_A_RADIAN, other):
        return abs(one - other) > _rounding(given, wanted) and _far(one, other)
    return False


def _far(one: Fraction, other: Fraction) -> bool:
    return abs(one - other) > CLEARLY_APART * max(abs(one), abs(other))

"""The scorer `number`: the answer is one number, and equals the target."""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, Literal

from pytest_llmeval.records import Json, Sample, Score
from pytest_llmeval.scoring.binary import decided, no_answer, shown
from pytest_llmeval.scoring.markup import unmarked
from pytest_llmeval.scoring.numerals import Decimal, UnreadableError
from pytest_llmeval.scoring.quantities import Written, numbers, single
from pytest_llmeval.scoring.retraction import collapsed, rejected, taken_back
from pytest_llmeval.scoring.statement import retracted, statements
from pytest_llmeval.scoring.units import PERCENT, Unit, UnknownUnitError, unit_at

LONGEST_ANSWER: Final = 50_000
"""Characters of an answer that is read."""

ROUNDING: Final = Fraction(1, 10**15)
"""Of the target: what arithmetic with doubles leaves, as in 0.1 + 0.2 = 0.30000000000000004."""

_LISTED = re.compile(r"[ ]*[^\s,;=]{1,20}[ ]*(?:[,;&+–-]|and|or|to)[ ]*", re.IGNORECASE)
"""Between two numbers of a list: a unit or a word, and a conjunction."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its unit; `text` is how it was written."""

    value: Fraction
    unit: Unit | None
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """Correct when the one number that the answer states equals the target.

    Args:
        name: name of the score.
        absolute: largest difference from the target, in the target's unit.
        relative: largest difference from the target, as a share of it; the larger of the two
            tolerances counts.
        decimal: the sign before the decimals, in targets and answers.
        percent: ``points``: 45% is 45, the sign is a unit; ``ratio``: 45% is 0.45.
        unit: when the target has a unit: ``required``: the answer must have one of the same
            dimension; ``optional``: it may; ``ignored``: units are not looked at.

    Raises:
        ValueError: a tolerance is negative or not finite.
    """

    name: str = "number"
    absolute: float = 0.0
    relative: float = 0.0
    decimal: Decimal = "point"
    percent: Literal["points", "ratio"] = "points"
    unit: Literal["required", "optional", "ignored"] = "optional"

    grader = "number/1"
    scale = 1.0

    def __post_init__(self) -> None:
        """Check the tolerances."""
        for option in ("absolute", "relative"):
            value = getattr(self, option)
            if not (math.isfinite(value) and value >= 0):
                msg = f"{option} is {value}, not a finite number from 0 on"
                raise ValueError(msg)

    def check(self, target: str) -> None:
        """Raise ValueError unless `target` is one number with a known unit or none."""
        if self._target(target).unit is None and self.unit == "required":
            msg = f"target {shown(target)} has no unit, and unit is required"
            raise ValueError(msg)

    def score(
        self,
        answer: str | None,
        sample: Sample,
        prepared: Json,  # noqa: ARG002 - nothing is prepared
    ) -> Score:
        """Return 1 if the answer states the target's number and no other, else 0."""
        if answer is None:
            return no_answer(self)
        target = self._target(sample.target_text)
        try:
            stated = self._stated(answer, target)
        except (UnreadableError, UnknownUnitError) as problem:
            return decided(self, f"{shown(answer)}: {problem}", correct=False)
        for quantity in stated:
            if difference := self._difference(quantity, target):
                return decided(self, difference, correct=False)
        told = f"{shown(stated[-1].text)} equals the target {shown(target.text)}"
        return decided(self, told, correct=True)

    def same(self, one: str, other: str, target: str) -> bool:
        """Whether two answers state one number each, and these are equal within the tolerances.

        A number without a unit has the target's, as `absolute` has; `relative` is a share of the
        larger number.
        """
        wanted = self._target(target)
        try:
            ours, theirs = (self._stated(answer, wanted) for answer in (one, other))
        except (UnreadableError, UnknownUnitError):
            return False
        pair = [_in_unit(found[-1], wanted.unit) for found in (ours, theirs)]
        return not self._difference(*sorted(pair, key=lambda found: abs(found.value)))

    def _target(self, target: str) -> Quantity:
        try:
            text = unmarked(target).strip()
            written = numbers(text, self.decimal, suffixes=False)
            quantity = self._quantity(text, written[0], read_unit=self.unit != "ignored")
        except (UnreadableError, UnknownUnitError) as problem:
            msg = f"target {shown(target)} is no number: {problem}"
            raise ValueError(msg) from None
        if len(written) > 1:
            msg = f"target {shown(target)} holds several numbers"
            raise ValueError(msg)
        return quantity

    def _stated(self, answer: str, target: Quantity) -> list[Quantity]:
        """Return the quantities of the answer's statement, which are to be one.

        Raises:
            UnreadableError: there is none, or several that contradict each other.
            UnknownUnitError: the unit is needed and unknown.
        """
        if len(answer) > LONGEST_ANSWER:
            msg = f"longer than {LONGEST_ANSWER} characters"
            raise UnreadableError(msg)
        stated = statements(answer)
        if not stated:
            found = self._clause(unmarked(answer).strip(), target)
        else:
            if retracted(answer):
                msg = "the statement is taken back later"
                raise UnreadableError(msg)
            found = self._clause(stated[-1], target)
            for earlier in stated[:-1]:
                found.extend(self._readable(earlier, target))
        if len({(one.value, one.unit) for one in found}) > 1 and any(
            self._difference(one, target) for one in found
        ):
            msg = f"several numbers: {', '.join(dict.fromkeys(one.text for one in found))}"
            raise UnreadableError(msg)
        return found

    def _readable(self, clause: str, target: Quantity) -> list[Quantity]:
        try:
            return self._clause(clause, target)
        except (UnreadableError, UnknownUnitError):
            return []

    def _clause(self, clause: str, target: Quantity) -> list[Quantity]:
        written = single(clause, self.decimal, suffixes=target.unit is None)
        read_unit = target.unit is not None
        found = [self._quantity(clause, one, read_unit=read_unit) for one in written]
        for one, other in itertools.pairwise(written):
            if _LISTED.fullmatch(clause, one.end, other.start):
                msg = f"a list: {clause[one.start : other.end]!r}"
                raise UnreadableError(msg)
        behind = collapsed(clause[written[-1].end :])
        if taken_back(behind) or rejected(behind):
            msg = f"the number is taken back or rejected: {shown(behind)}"
            raise UnreadableError(msg)
        return found

    def _quantity(self, text: str, written: Written, *, read_unit: bool) -> Quantity:
        value, unit, end = written.value, None, written.end
        if written.percent and self.percent == "ratio":
            value /= 100
        elif written.percent and read_unit:
            unit = PERCENT
        elif read_unit:
            unit = unit_at(text, end, written.money)
        shown_text = text[written.start : end] + (f" {unit.text}" if unit else "")
        return Quantity(value, unit, shown_text)

    def _difference(self, given: Quantity, target: Quantity) -> str:
        """Return why `given` is not the target, "" if it is."""
        one, other = shown(given.text), shown(target.text)
        if target.unit is None:
            value, wanted, one_unit = given.value, target.value, Fraction(1)
        elif given.unit is None:
            if self.unit == "required":
                return f"{one} has no unit, the target {other} has one"
            value, wanted, one_unit = given.value, target.value, Fraction(1)
        elif given.unit.dimension != target.unit.dimension:
            return f"{one} has another dimension than the target {other}"
        else:
            value, wanted = given.unit.base(given.value), target.unit.base(target.value)
            one_unit = target.unit.factor
        allowed = max(
            Fraction(str(self.absolute)) * one_unit, Fraction(str(self.relative)) * abs(wanted)
        )
        if abs(value - wanted) <= allowed or _rounded(value, wanted):
            return ""
        return f"{one} differs from the target {other}"


def _in_unit(quantity: Quantity, unit: Unit | None) -> Quantity:
    """Return a quantity in a unit; one of another dimension unchanged."""
    if unit is None or quantity.unit is None:
        return replace(quantity, unit=unit)
    if quantity.unit.dimension != unit.dimension:
        return quantity
    value = (quantity.unit.base(quantity.value) - unit.offset) / unit.factor
    return replace(quantity, value=value, unit=unit)


def _rounded(value: Fraction, wanted: Fraction) -> bool:
    """Whether two numbers, not both whole, differ by the rounding of doubles alone."""
    both_whole = value.denominator == wanted.denominator == 1
    return not both_whole and abs(value - wanted) <= ROUNDING * abs(wanted)

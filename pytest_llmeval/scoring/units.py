"""Units behind numbers, read by a small grammar of ours.

Pint's own parser evaluates expressions (``6^800000`` takes it minutes), so what a model writes
never reaches it: only single names do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from pytest_llmeval.scoring.unit_names import WORDS, NamedUnit, currency, named_unit

MOST_FACTORS: Final = 8
"""Names that a unit may be made of."""

_FACTOR = re.compile(
    r"[ ]*(?P<join>/[ ]*\(?|\bper\b|[·×*]|-)?[ ]*"
    r"(?P<name>(?:°|deg(?:rees?)?)[ ]?(?:C(?:elsius)?|F(?:ahrenheit)?)(?![^\W\d_])"
    r"|[°%$€£¥₹¢]|[^\W\d_]{1,30})\.?"
    r"(?P<power>(?:\^|\*\*)[ ]*[({]?[-+]?\d(?!\d)[)}]?|-?\d(?![\d.]))?(?P<close>\))?"
)
_HIGHER_POWER = re.compile(r"\^|\*\*|\d")
_POWERS_BEFORE: Final = {"square": 2, "sq": 2, "cubic": 3, "cu": 3}
_POWERS_AFTER: Final = {"squared": 2, "cubed": 3}
_POWER_AFTER = re.compile(r"[ ]+(?P<word>squared|cubed)\b", re.IGNORECASE)
_WORD_FOLLOWS = re.compile(r"\.?[ ]+[A-Za-z]")


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit as read: `factor` base units of `dimension`, plus `offset` base units.

    The offset is that of a temperature scale. `dimension` is what two units must share to be
    compared: base units with their powers.
    """

    text: str
    factor: Fraction
    dimension: frozenset[tuple[str, Fraction]]
    offset: Fraction = Fraction(0)

    def base(self, value: Fraction) -> Fraction:
        """Return `value` of this unit in base units."""
        return value * self.factor + self.offset


PERCENT: Final = Unit("%", Fraction(1), frozenset({("percent", Fraction(1))}))


class UnknownUnitError(ValueError):
    """A word stands in the place of a unit, and is none; the message names it."""


@dataclass(frozen=True, slots=True)
class _Factor:
    name: str
    unit: NamedUnit
    power: int
    end: int


def unit_at(text: str, position: int, money: str = "") -> Unit | None:
    """Return the unit that follows a number, None for none.

    Args:
        text: a text without mark-up.
        position: end of the number.
        money: the currency sign before the number, "" for none.

    Raises:
        UnknownUnitError: the word behind the number is neither a unit nor a common English word.
    """
    factors = list(_factors(text, position))
    if money and (paid := named_unit(money.rstrip("."))):
        if factors and currency(factors[0].name) == currency(money.rstrip(".")):
            del factors[0]  # "$5 dollars" names it twice
        factors.insert(0, _Factor(money, paid, 1, position))
    if not factors:
        return None
    scale, powers = Fraction(1), dict[str, Fraction]()
    for factor in factors:
        scale *= factor.unit.factor**factor.power
        for base, power in factor.unit.bases.items():
            powers[base] = powers.get(base, Fraction(0)) + power * factor.power
    alone = len(factors) == 1 and factors[0].power == 1
    return Unit(
        money + text[position : factors[-1].end].strip(),
        scale,
        frozenset((base, power) for base, power in powers.items() if power),
        factors[0].unit.offset if alone else Fraction(0),
    )


def _factors(text: str, position: int) -> Iterator[_Factor]:
    """Yield the names of a unit with their powers, up to the first word that is none."""
    first, inverse, power = True, False, 1
    for _ in range(MOST_FACTORS):
        match = _FACTOR.match(text, position)
        if not match or (first and match["join"] in {"-", "*", "×", "·"}):
            return
        name, join = match["name"], match["join"] or ""
        divided = join.startswith(("/", "per"))
        if name.lower() in _POWERS_BEFORE:
            power, position = _POWERS_BEFORE[name.lower()], match.end()
            first, inverse = False, inverse or divided
            continue
        if not (unit := _unit(name, text, match)):
            if first and name.lower() not in WORDS:
                msg = f"unknown unit {name!r}"
                raise UnknownUnitError(msg)
            return
        if _HIGHER_POWER.match(text, match.end()):
            msg = f"a power that no unit has: {text[position : match.end() + 5]!r}"
            raise UnknownUnitError(msg)
        signed, position = _power(match, text)
        signed *= -power if divided or inverse else power
        yield _Factor(name, unit, signed, position)
        inverse = (inverse or (join.endswith("(") and divided)) and not match["close"]
        first, power = False, 1


def _unit(name: str, text: str, match: re.Match[str]) -> NamedUnit | None:
    if name.lower() == "in":  # an inch only where no word follows, as in "5 in total"
        return None if _WORD_FOLLOWS.match(text, match.end("name")) else named_unit("inch")
    if name == "A" and _WORD_FOLLOWS.match(text, match.end("name")):  # an article, no ampere
        return None
    return named_unit(name)


def _power(match: re.Match[str], text: str) -> tuple[int, int]:
    """Return a factor's power and its end."""
    power = int(re.sub(r"[^-\d]", "", match["power"] or "1"))
    if after := _POWER_AFTER.match(text, match.end()):
        return power * _POWERS_AFTER[after["word"].lower()], after.end()
    return power, match.end()

"""Names of units, currencies and temperature scales, and what they are in base units.

Pint knows the units. It is imported when the first name is looked up that is no currency.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import pint

_NAMES: Final = {
    "°": "degree",
    "Ω": "ohm",
    "Å": "angstrom",
    "sec": "second",
    "secs": "second",
    "hrs": "hour",
    "mins": "minute",
    "lbs": "pound",
    "kmh": "kilometer_per_hour",
    "kmph": "kilometer_per_hour",
    "kph": "kilometer_per_hour",
    "mph": "mile_per_hour",
    "cc": "cubic_centimeter",
    "metres": "meter",
    "litres": "liter",
}
"""Spellings that pint lacks, or reads as something else."""

_CURRENCIES: Final = {
    "$": ("dollar", 1),
    "us$": ("dollar", 1),
    "usd": ("dollar", 1),
    "dollar": ("dollar", 1),
    "dollars": ("dollar", 1),
    "buck": ("dollar", 1),
    "bucks": ("dollar", 1),
    "cent": ("dollar", 100),
    "cents": ("dollar", 100),
    "¢": ("dollar", 100),
    "€": ("euro", 1),
    "eur": ("euro", 1),
    "euro": ("euro", 1),
    "euros": ("euro", 1),
    "£": ("pound sterling", 1),
    "gbp": ("pound sterling", 1),
    "¥": ("yen", 1),
    "yen": ("yen", 1),
    "₹": ("rupee", 1),
    "inr": ("rupee", 1),
    "rs": ("rupee", 1),
    "rupee": ("rupee", 1),
    "rupees": ("rupee", 1),
}
"""Names of currencies, and how many of each make one of the currency's unit."""

_CELSIUS: Final = (Fraction(1), Fraction(27315, 100))
_FAHRENHEIT: Final = (Fraction(5, 9), Fraction(45967, 100) * Fraction(5, 9))
_TEMPERATURES: Final = {
    "c": _CELSIUS,
    "celsius": _CELSIUS,
    "f": _FAHRENHEIT,
    "fahrenheit": _FAHRENHEIT,
}
"""Kelvins of one degree, and kelvins at zero degrees."""

_WORDS: Final = (
    "a an and are as at am in is it to of the on or for so per with if by be was will who "
    "we because since when which where that this total each every more less left away long "
    "high tall wide deep old ago apart altogether overall approximately exactly about "
    "downward downwards upward upwards units unit after before from into than then thus "
    "during while has have had can only also both all but he she they you i there remaining "
)
WORDS: Final = frozenset(_WORDS.split())
"""English words that are no units, though pint knows some (``a`` year, ``at`` atmosphere)."""


@dataclass(frozen=True, slots=True)
class NamedUnit:
    """A unit with one name: `factor` of the product of `bases` with their powers.

    `offset`, in base units, is the zero of a temperature scale.
    """

    factor: Fraction
    bases: Mapping[str, Fraction]
    offset: Fraction = Fraction(0)


@lru_cache(maxsize=4096)
def named_unit(name: str) -> NamedUnit | None:
    """Return the unit that a name or sign stands for, None for none."""
    if name.lower() in WORDS and name != "A":
        return None
    if name in {"%", "percent"}:
        return NamedUnit(Fraction(1), {"percent": Fraction(1)})
    if found := _CURRENCIES.get(name.lower()):
        return NamedUnit(Fraction(1, found[1]), {found[0]: Fraction(1)})
    return _temperature(name) or _from_pint(name)


def currency(name: str) -> str | None:
    """Return the currency that a sign or word names, None for none."""
    found = _CURRENCIES.get(name.lower())
    return found[0] if found else None


def _temperature(name: str) -> NamedUnit | None:
    scale = re.sub(r"[° ]|degrees?|deg", "", name).lower()
    if scale not in _TEMPERATURES or (len(scale) == 1 and scale == name.lower()):
        return None  # a C alone is a coulomb, an F a farad
    factor, offset = _TEMPERATURES[scale]
    return NamedUnit(factor, {"kelvin": Fraction(1)}, offset)


def _from_pint(name: str) -> NamedUnit | None:
    registry = _registry()
    for spelling in (_NAMES.get(name) or _NAMES.get(name.lower(), name), name.lower()):
        if spelling.isidentifier() and registry.parse_unit_name(spelling):
            container = registry.UnitsContainer({spelling: Fraction(1)})
            factor, root = registry.get_root_units(container, check_nonmult=False)
            bases = dict(root._units)  # noqa: SLF001 - pint has no public view of them
            powers = {str(base): _exact(power) for base, power in bases.items()}
            return NamedUnit(_exact(factor), powers)
    return None


@cache
def _registry() -> pint.UnitRegistry[Fraction]:
    import pint  # noqa: PLC0415 - takes 1.3 s with its registry, and most tasks have no units

    return pint.UnitRegistry(non_int_type=Fraction)


def _exact(number: object) -> Fraction:
    """Return a number of the registry; all but a few constants are fractions."""
    return number if isinstance(number, Fraction) else Fraction(str(number))

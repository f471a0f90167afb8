"""How numbers are written: digits in groups, fractions, powers of ten."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final, Literal, TypeAlias

Decimal: TypeAlias = Literal["point", "comma"]
"""The sign before the decimals. The other one may group thousands."""

LONGEST_NUMERAL: Final = 400
"""Characters of a number's digits and separators."""

LARGEST_EXPONENT: Final = 400
"""Of ten, in scientific notation."""

_GROUPED: Final = (
    r"\d+|\d{{1,3}}(?:{0}\d{{3}})+|\d{{1,2}}(?:{0}\d{{2}})+{0}\d{{3}}"  # the last: Indian groups
    r"|\d{{1,3}}(?: \d{{3}})+|\d{{1,3}}(?:['’]\d{{3}})+|\d{{1,3}}(?:_\d{{3}})+"
)
_FORMS: Final = {
    "point": re.compile(rf"(?P<whole>{_GROUPED.format(',')})?(?:\.(?P<part>\d+))?"),
    "comma": re.compile(rf"(?P<whole>{_GROUPED.format('[.]')})?(?:,(?P<part>\d+))?"),
}


class UnreadableError(ValueError):
    """The text is not a single plain number; the message says why."""


def read_numeral(text: str, decimal: Decimal) -> Fraction:
    """Return the number that digits and separators stand for.

    ``1,234.5``, ``1 234.5``, ``1'234.5``, ``1_234.5`` and ``12,34,567`` are read with a decimal
    point, ``1.234,5`` and ``1 234,5`` with a decimal comma.

    Raises:
        UnreadableError: the groups are no groups of thousands, such as in ``12,5`` with a decimal
            point.
    """
    if len(text) > LONGEST_NUMERAL:
        msg = f"a number of more than {LONGEST_NUMERAL} characters"
        raise UnreadableError(msg)
    found = _FORMS[decimal].fullmatch(text)
    if found is None or not (found["whole"] or found["part"]):
        msg = f"{text!r} is no number with a decimal {decimal}"
        raise UnreadableError(msg)
    whole = re.sub(r"\D", "", found["whole"] or "0")
    part = found["part"] or ""
    return Fraction(int(whole + part), 10 ** len(part))


def power_of_ten(exponent: str) -> Fraction:
    """Return 10 to the power of a written integer.

    Raises:
        UnreadableError: it is beyond `LARGEST_EXPONENT`.
    """
    if len(exponent.lstrip("+-")) > len(str(LARGEST_EXPONENT)) or (
        abs(power := int(exponent)) > LARGEST_EXPONENT
    ):
        msg = f"an exponent beyond {LARGEST_EXPONENT}"
        raise UnreadableError(msg)
    return Fraction(10) ** power

"""Numbers in a text: where they stand, and what the signs and words around them make of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from pytest_llmeval.scoring.expressions import check_after, check_before
from pytest_llmeval.scoring.numerals import (
    Decimal,
    UnreadableError,
    power_of_ten,
    read_numeral,
)

MOST_NUMBERS: Final = 50
"""Numbers that a text may hold; one with more names no single number."""

_MONEY = r"(?:US\$|[$€£¥₹]|(?:USD|EUR|GBP|INR|Rs\.?)(?![A-Za-z]))"
_RUN = r"\d{1,3}(?:[ ]\d{3})+(?![\d])(?:[.,]\d+)?|\.?\d[\d.,'’_]*"
_SCAN = re.compile(
    r"(?P<number>(?<!\w)(?P<sign>[-+–][ ]*|(?:minus|negative)[ ]+)?"
    rf"(?P<money>{_MONEY})?[ ]?(?P<inner>-)?(?P<run>{_RUN}))"
    # Digits that belong to a name, an index or an exponent are no numbers.
    r"|(?P<name>[^\W\d_][\w]*(?:[_^][{(]?[-+]?\w+[)}]?)*(?:-\d+)?|[_^]\s*[{(]?[-+]?\w+)",
    re.IGNORECASE,
)
_SCIENTIFIC = re.compile(
    r"e(?P<e>[-+]?\d+)(?!\w)"
    r"|[ ]*(?:[x×*·]|\bby\b)[ ]*10[ ]*(?:\^|\*\*)[ ]*[({]?[ ]*(?P<power>[-+]?\d+)(?:[ ]*[)}])?",
    re.IGNORECASE,
)
_TEN_TO = re.compile(r"[ ]*(?:\^|\*\*)[ ]*[({]?[ ]*(?P<power>[-+]?\d+)(?:[ ]*[)}])?")
_OVER = re.compile(r"[ ]*/[ ]*(?P<over>\d[\d.,]*)")
_MIXED = re.compile(r"[ ]+(?:and[ ]+)?(?P<top>\d{1,9})[ ]*/[ ]*(?P<bottom>\d{1,9})(?![\d/])")
_AND_PART = re.compile(
    r"[ ]+and[ ]+(?:a|one)[ ]+(?P<part>half|third|quarter|fifth)\b", re.IGNORECASE
)
_PARTS = {"half": 2, "third": 3, "quarter": 4, "fifth": 5}
_SCALE = re.compile(
    r"[ -]*(?P<word>hundred|thousand|million|billion|trillion|dozen)s?\b", re.IGNORECASE
)
_SUFFIX = re.compile(r"(?P<letter>[kKMB]|bn|mn)(?!\w)")
_SCALES = {
    "dozen": 12,
    "hundred": 10**2,
    "thousand": 10**3,
    "k": 10**3,
    "million": 10**6,
    "m": 10**6,
    "mn": 10**6,
    "billion": 10**9,
    "b": 10**9,
    "bn": 10**9,
    "trillion": 10**12,
}
_PERCENT = re.compile(r"[ ]*(?:%|\\%|(?:percent|per cent|percentage|pct)\b)", re.IGNORECASE)

_LIST = re.compile(r"[ ]*(?:[,;:&|~–-]|and|or|to|x|×|versus|vs\.?|through)?[ ]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A number in a text.

    `value` is what its digits, fraction, power and scale words say; of a percentage the number
    before the sign. `text[start:end]` is its place, without a unit behind it; `money` a currency
    sign before it.
    """

    value: Fraction
    start: int
    end: int
    money: str = ""
    percent: bool = False


def numbers(text: str, decimal: Decimal, *, suffixes: bool) -> list[Written]:
    """Return the numbers of a text without mark-up, in order.

    Args:
        text: a text as `markup.unmarked` leaves it.
        decimal: the sign before the decimals.
        suffixes: whether ``5k``, ``3M`` and ``2B`` are thousands, millions and billions; with a
            currency sign they always are.

    Raises:
        UnreadableError: there is none, or one is a part of something else: an expression, a bound,
            a list, an ordinal.
    """
    found: list[Written] = []
    position = 0
    while match := _next(text, position):
        if len(found) == MOST_NUMBERS:
            msg = f"more than {MOST_NUMBERS} numbers"
            raise UnreadableError(msg)
        number = _read(text, match, decimal, suffixes=suffixes)
        if found and _LIST.fullmatch(text, found[-1].end, number.start):
            msg = f"a list, range or ratio: {text[found[-1].start : number.end]!r}"
            raise UnreadableError(msg)
        found.append(number)
        position = number.end
    if not found:
        msg = "there is no number"
        raise UnreadableError(msg)
    return found


def single(text: str, decimal: Decimal, *, suffixes: bool) -> list[Written]:
    """Return the numbers that a clause states: the result of its equation, else all.

    Of a chain of equations such as ``12 + 6 = 18`` the last side counts.

    Raises:
        UnreadableError: as `numbers` does.
    """
    result = _result(text)
    if result is None:
        return numbers(text, decimal, suffixes=suffixes)
    offset = len(text) - len(result)
    return [
        Written(
            value=one.value,
            start=one.start + offset,
            end=one.end + offset,
            money=one.money,
            percent=one.percent,
        )
        for one in numbers(result, decimal, suffixes=suffixes)
    ]


_EQUALS = re.compile(r"(?<![<>!=:])=+(?![<>])|≈")
_CHOICE = re.compile(r"\b(?:or|and|if|when|let|suppose|assume|not)\b|[;\n]", re.IGNORECASE)
_BREAK = re.compile(r",(?!\d)|[.!?](?=\s)")
"""A list or the end of a sentence, between the signs of one chain."""


def _result(text: str) -> str | None:
    """Return the last side of the one chain of equations in `text`, or None."""
    signs = list(_EQUALS.finditer(text))
    if not signs or _CHOICE.search(text, 0, signs[-1].end()):
        return None
    between = text[signs[0].end() : signs[-1].start()]
    result = text[signs[-1].end() :]
    return None if _BREAK.search(between) or not re.search(r"\d", result) else result


def _next(text: str, position: int) -> re.Match[str] | None:
    while match := _SCAN.search(text, position):
        if match["number"]:
            return match
        position = match.end()
    return None


def _read(text: str, match: re.Match[str], decimal: Decimal, *, suffixes: bool) -> Written:
    run = match["run"].rstrip(".,'’_")
    end = match.start("run") + len(run)
    value = read_numeral(run, decimal)
    value, end = _extended(text, value, run, end, decimal)
    for scale in _scales(text, end, suffixes=suffixes or bool(match["money"])):
        value, end = value * _SCALES[scale[1].lower()], scale.end()
    percent = _PERCENT.match(text, end)
    end = percent.end() if percent else end
    start = match.start("number")
    check_before(text, start, sign=match["sign"] or "", digits=match["run"])
    check_after(text, end)
    if (match["sign"] or "+").strip() != "+" or match["inner"]:
        value = -value
    return Written(
        value=value, start=start, end=end, money=match["money"] or "", percent=bool(percent)
    )


def _extended(
    text: str, value: Fraction, run: str, end: int, decimal: Decimal
) -> tuple[Fraction, int]:
    """Return value and end with a power of ten, a denominator or a fraction behind the digits."""
    if power := _SCIENTIFIC.match(text, end):
        return value * power_of_ten(power["e"] or power["power"]), power.end()
    if run == "10" and (power := _TEN_TO.match(text, end)):
        return power_of_ten(power["power"]), power.end()
    if over := _OVER.match(text, end):
        digits = over["over"].rstrip(".,")
        end = over.start("over") + len(digits)
        return value / _nonzero(read_numeral(digits, decimal)), end
    if mixed := _MIXED.match(text, end):
        return value + Fraction(int(mixed["top"]), _nonzero(int(mixed["bottom"]))), mixed.end()
    if part := _AND_PART.match(text, end):
        return value + Fraction(1, _PARTS[part["part"].lower()]), part.end()
    return value, end


def _nonzero(bottom: Fraction | int) -> Fraction | int:
    if not bottom:
        msg = "a division by zero"
        raise UnreadableError(msg)
    return bottom


def _scales(text: str, end: int, *, suffixes: bool) -> Iterator[re.Match[str]]:
    if suffixes and (letter := _SUFFIX.match(text, end)):
        yield letter
    while word := _SCALE.match(text, end):
        yield word
        end = word.end()

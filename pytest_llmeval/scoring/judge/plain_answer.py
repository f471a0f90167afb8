r"""Answers that state one number alone, such as ``**Answer:** $x = 2\sqrt{3}$ cm``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Final

from pytest_llmeval.scoring.judge.grammar import Value, begins_value, read_value
from pytest_llmeval.scoring.judge.tokens import Token, tokens_of
from pytest_llmeval.scoring.numerals import UnreadableError

MOST_VALUES: Final = 4
"""Sides of a chain such as ``x = 40/3 ≈ 13.33``."""

_BREAK, _HEADING = "|", "#"
_LINE_MARKS: Final = frozenset("#*•-")
_RELATIONS: Final = frozenset({"=", "≈", "\\approx"})
_GAP = r"[ |]*"
_NAME = (
    r"(?:(?:m )?(?:\\angle|∠) (?:[A-Z]{1,3}|[a-z]|[1-9])"
    r"|(?:m )?\\(?:overline|widehat) \{ [A-Z]{2} \}|[A-Za-z]|[A-Z]{2})"
)
_RELATION = r"(?:=|≈|\\approx)"
_LEAD = re.compile(
    rf"{_GAP}(?P<heading>\#)?{_GAP}(?:(?i:so|thus|therefore|hence){_GAP},?{_GAP})?"
    # After "answer" something must show that the number is the answer's and not its own.
    r"(?:(?i:(?:the |my |our )?(?:final )?(?:answer|result))"
    rf"(?:{_GAP}(?:(?i:is)(?:{_GAP}:)?|:|=){_GAP}|[ ]?\|{_GAP}(?::{_GAP})?|(?(heading)[ ]|(?!))))?"
    rf"(?:(?i:the value of){_GAP}(?P<valued>{_NAME}){_GAP}(?i:is){_GAP})?"
    rf"(?:(?P<equated>{_NAME}){_GAP}{_RELATION}{_GAP})?"
    rf"(?:(?i:approximately|about|roughly)|{_RELATION})?{_GAP}"
)
"""The words and the name that may stand before the number."""

_ABOUT = re.compile(r"(?i:approximately|about|roughly)|≈|\\approx")

_LENGTH = (
    r"(?:[cmk]?m|in|inch|inches|ft|foot|feet|yd|yards?|mi|miles?"
    r"|(?:centi|milli|kilo)?met(?:er|re)s?|units?)"
)
_UNIT = re.compile(
    r"(?P<degree>°|\^ \\circ|\^ \{ \\circ \}|\\degree|degrees?|deg)"
    rf"|(?P<length>(?:(?:square|sq|cubic|cu)(?: \.)? )?{_LENGTH}"
    r"(?: (?:²|³|\^ [23]|\^ \{ [23] \}))?)"
)
DEGREE: Final = "°"


@dataclass(frozen=True, slots=True)
class PlainAnswer:
    r"""A stated number.

    Attributes:
        values: its forms, exactly or nearly equal: both of ``40/3 ≈ 13.33``.
        name: what the number is said to be, such as ``x`` or ``\angle ABC``; "" if nothing is said.
        unit: the unit as written, `DEGREE` for degrees, "" for none or for units without a name.
        text: the number as it is written.
    """

    values: Sequence[Value]
    name: str
    unit: str
    text: str


def read_plain(text: str) -> PlainAnswer | None:
    """Return the number that a text states; None unless all of the text is understood."""
    tokens = tokens_of(text)
    if not tokens:
        return None
    try:
        return _read(text, tokens)
    except UnreadableError:
        return None


def _read(text: str, tokens: Sequence[Token]) -> PlainAnswer:
    start = _lead_end(tokens)
    lead = _canonical(tokens[:start])
    name, about = _name(lead), _ABOUT.search(lead) is not None
    values: list[Value] = []
    unit, position, end = "", start, start
    while position < len(tokens):
        value, behind = read_value(tokens, position)
        values.append(_rounded_to_whole(value) if about else value)
        end, position = tokens[behind - 1].end, _next_side(tokens, behind)
        unit = _merged(unit, _unit(tokens[behind:position]))
        about = True
    if len(values) > MOST_VALUES or not all(_agree(*pair) for pair in combinations(values, 2)):
        msg = "sides that are not equal"
        raise UnreadableError(msg)
    if tokens[start].text in {"-", "+"} and not _states(tokens, start):
        values = [Value(one.number, one.places, certain=False) for one in values]
    return PlainAnswer(values, name, unit, text[tokens[start].start : end].strip())


def _canonical(tokens: Sequence[Token]) -> str:
    """Return tokens as text: one blank between two, a bar for marks, a hash sign for headings."""
    parts: list[str] = []
    for token in tokens:
        part = token.text
        if token.kind == "break" and part:
            part = _HEADING if part == _HEADING else _BREAK
        if part and (part != _BREAK or parts[-1:] != [_BREAK]):
            parts.append(part)
    return " ".join(parts)


def _lead_end(tokens: Sequence[Token]) -> int:
    """Return the position of the token with which the number begins.

    Raises:
        UnreadableError: there is none.
    """
    for position, token in enumerate(tokens):
        named = position > 0 and tokens[position - 1].text in {"\\angle", "∠"}
        if begins_value(token) and not named:
            return position
    msg = "no number"
    raise UnreadableError(msg)


def _name(lead: str) -> str:
    """Return the name in the words before a number, "" for none.

    Raises:
        UnreadableError: they say something else.
    """
    found = _LEAD.fullmatch(lead)
    if found is None:
        msg = f"unknown words before the number: {lead!r}"
        raise UnreadableError(msg)
    return found["equated"] or found["valued"] or ""


def _states(tokens: Sequence[Token], position: int) -> bool:
    """Whether what stands before a signed number shows that its dash is a minus."""
    before = [token for token in tokens[:position] if token.kind != "break"]
    return not before or before[-1].text.lower() in {*_RELATIONS, "is"}


def _rounded_to_whole(value: Value) -> Value:
    """Return a value called approximate: of a whole number it is unknown how far it is rounded."""
    return value if value.places != 0 else Value(value.number, 0, certain=False)


def _next_side(tokens: Sequence[Token], position: int) -> int:
    """Return the position behind the next equals sign, or the end if there is no further side.

    Raises:
        UnreadableError: nothing follows the equals sign.
    """
    for place in range(position, len(tokens)):
        if tokens[place].text in _RELATIONS:
            rest = (at for at in range(place + 1, len(tokens)) if tokens[at].kind != "break")
            following = next(rest, None)
            if following is None:
                msg = "an equation without its other side"
                raise UnreadableError(msg)
            return following
    return len(tokens)


def _unit(behind: Sequence[Token]) -> str:
    """Return the unit that stands behind a number, with or without a full stop.

    Raises:
        UnreadableError: anything else stands there.
    """
    if any(token.kind == "break" and token.text in _LINE_MARKS for token in behind):
        msg = "a list or heading behind the number"
        raise UnreadableError(msg)
    parts = [token.text for token in behind if token.kind != "break"]
    while parts[-1:] and parts[-1] in _RELATIONS:
        parts.pop()
    if parts[-1:] == ["."]:
        parts.pop()
    written = " ".join(parts)
    found = _UNIT.fullmatch(written)
    if written and found is None:
        msg = f"unknown words behind the number: {written!r}"
        raise UnreadableError(msg)
    if found and found["degree"]:
        return DEGREE
    return "" if parts[-1:] in (["unit"], ["units"]) else written


def _merged(one: str, other: str) -> str:
    """Return the unit of a chain's sides.

    Raises:
        UnreadableError: they have two.
    """
    if one and other and one != other:
        msg = f"two units, {one} and {other}"
        raise UnreadableError(msg)
    return one or other


def _agree(one: Value, other: Value) -> bool:
    """Whether two sides of a chain are the same number, rounded at most."""
    places = min((side.places for side in (one, other) if side.places is not None), default=None)
    gap = (one.number + -other.number).approximation()
    return abs(gap) <= (Fraction(0) if places is None else Fraction(1, 2 * 10**places))

"""Signs and words around a number that make it a part of something else."""

from __future__ import annotations

import re
from typing import Final

from pytest_llmeval.scoring.numerals import UnreadableError

_BOUND_BEFORE = re.compile(
    r"(?:[<>≤≥≠±]|!=|\+/-|\b(?:at least|at most|more than|less than|fewer than|greater than"
    r"|larger than|smaller than|other than|equal to|up to|not|below|under|above|over|exceeds"
    r"|except|minimum of|maximum of|between|nearly|almost))[ ]*$",
    re.IGNORECASE,
)
_BOUND_AFTER = re.compile(
    r"[ ]*(?:\+(?![ ]*[\w(\\√$€£¥₹])|[<>≤≥≠±]|!=|\+/-)"
    r"|[ ]+(?:\w+[ ]+)?or[ ]+(?:more|less|fewer|greater|higher|lower)\b"
    r"|[ ]+(?:at least|at most)\b",
    re.IGNORECASE,
)
_NEGATED = re.compile(
    r"(?:\b(?:not|never|cannot|neither|nor|wrong|incorrect|wrongly|incorrectly|mistaken(?:ly)?)\b"
    r"|n['’]t\b)[^.,;:=\n]*$",
    re.IGNORECASE,
)
_OPERAND_BEFORE = re.compile(
    r"(?:[\d)\]}πx][ ]*[-–]|[√*×·÷+/^]|[\w\\][(\[]|√\(|\{|[-–][ ]*[(\[]|[\d)\]}])[ ]*$"
)
_FUNCTION_BEFORE = re.compile(
    r"(?:\b(?:ln|log|lg|exp|(?:arc|a)?(?:sin|cos|tan)h?|cot|sec|csc|coth|sqrt|cbrt|abs|floor|ceil"
    r"|round|max|min|gcd|lcm|mod|det|root)"
    r"|\\(?!(?:large|huge|small|normalsize|bf|rm|bfseries|item|newline|par|l?dots|cdots|because"
    r"|textstyle|equiv|cong|mapsto|longrightarrow|iff|colon|pounds|euro|yen|textdollar)"
    r"(?![A-Za-z]))[A-Za-z]+)"
    r"(?:[_^](?:\w+|\{[^{}]*\}|\(\w+\)))*\s*[-+–]?\s*$",
    re.IGNORECASE,
)
r"""A function whose argument is the number: ``log 18``, ``\ln 2``, ``\log_{2} 8``."""

_WORDS_BEFORE = re.compile(
    r"\b(?:(?:twice|thrice|double|triple|treble|quadruple|quintuple|half|doubling|tripling|halving"
    r"|squaring|cubing|plus|times|divided by|multiplied by|modulo|raised to|to the power of"
    r"|added to|subtracted from)"
    r"|(?:halves|thirds?|quarters?|fourths?|fifths?|sixths?|sevenths?|eighths?|ninths?|tenths?"
    r"|twentieths?|hundredths?|thousandths?|percent|per cent|squares?|cubes?|roots?|logarithms?|log"
    r"|ln|exponential|sine|cosine|tangent|negative|negation|opposite|inverse|reciprocal|factorial"
    r"|absolute value|complement|multiples?|divisors?|part|portion|predecessor|successor|floor"
    r"|ceiling)\s+of\b)"
    r"(?:\s+(?:of|the|a|an|about|all|those|these|her|his|its|their|number|value))*"
    r"\s+(?:[-+–]|minus\s+|negative\s+)?$",
    re.IGNORECASE,
)
"""An operator in words that takes the number: "half of", "twice the", "the square root of"."""

_MINUEND = re.compile(
    r"(?:\b(?:[a-z]|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|\w+ty"
    r"|hundred|thousand)|[)\]])\s+$",
    re.IGNORECASE,
)
"""What makes "minus" behind it an operator."""

_OPERATOR_AFTER = re.compile(
    r"[ ]*(?:\^|\*\*|[*×·÷+](?=[ ]*[\w(\\√])|√|π|∞|\\[A-Za-z])|[ ]*-[ ]*(?=\d)"
    r"|[(\[](?=[-\d])|/[ ]*(?=\d)|!(?=[ ]*[*/+\d])"
    r"|(?-i:[xyzXYZnije])(?![^\W_])|[ ]+-[ ]+(?=[A-Za-z]\b)"
    r"|[ ]+(?:squared|cubed|factorial|halves|half|thirds?|quarters?|fourths?|fifths?|sixths?"
    r"|eighths?|tenths?|hundredths?|thousandths?)\b"
    r"|[ ]+(?:doubled|tripled|quadrupled|halved|plus|minus|divided by|multiplied by|mod|modulo"
    r"|to the power|raised to|less (?:than|by)\b)\b"
    r"|[ ]+times[ ]+(?:[b-hj-z]|two|three|four|five|six|seven|eight|nine|ten|pi)\b",
    re.IGNORECASE,
)
_ORDINAL = re.compile(r"(?:st|nd|rd|th)\b", re.IGNORECASE)
_CONTEXT: Final = 80
"""Characters around a number that are looked at."""


def check_before(text: str, start: int, *, sign: str, digits: str) -> None:
    """Check the text before a number.

    Args:
        text: the text of the number.
        start: where the number begins, with its sign.
        sign: the sign as it is written, with the blanks behind it, or "".
        digits: the number's digits, for the message.

    Raises:
        UnreadableError: the number is bounded, denied, or an operand.
    """
    before = text[max(0, start - _CONTEXT) : start]
    if (bound := _BOUND_BEFORE.search(before)) or (bound := _NEGATED.search(before)):
        msg = f"a bound or a negation: {bound[0].strip() + ' ' + digits!r}"
        raise UnreadableError(msg)
    if re.fullmatch(r"[-–][ ]+", sign) and not re.search(r"[=(][ ]*$", before):
        msg = f"a dash that may be a minus: {sign + digits!r}"
        raise UnreadableError(msg)
    plain_sign = sign.strip().lower()
    if (
        _OPERAND_BEFORE.search(before)
        or (plain_sign != "+" and _OPERAND_BEFORE.search(before + sign))
        or _FUNCTION_BEFORE.search(before)
        or _WORDS_BEFORE.search(before)
        or (plain_sign == "minus" and _MINUEND.search(before))
    ):
        msg = f"an expression: {(before + sign)[-20:] + digits!r}"
        raise UnreadableError(msg)


def check_after(text: str, end: int) -> None:
    """Check the text behind a number, which ends at `end`.

    Raises:
        UnreadableError: the number is bounded, an operand or an ordinal.
    """
    if bound := _BOUND_AFTER.match(text, end):
        msg = f"a bound: {text[max(0, end - 20) : bound.end()]!r}"
        raise UnreadableError(msg)
    if operator := _OPERATOR_AFTER.match(text, end):
        msg = f"an expression: {text[max(0, end - 20) : operator.end() + 5]!r}"
        raise UnreadableError(msg)
    if _ORDINAL.match(text, end):
        msg = "an ordinal"
        raise UnreadableError(msg)

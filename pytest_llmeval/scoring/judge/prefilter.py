r"""Answers that need no judge: plainly stated, and equal to the target or clearly apart from it.

A prefilter saves judge calls and must never be wrong, so it decides a few forms and leaves the
rest undecided. Its rules:

- The answer is the reply's last line: alone, in a single ``\boxed{}``, after words such as "the
  final answer is", or under a heading of just such words. Nothing is decided if there is a second
  box, another line that states an answer, a result or a solution, or any further word on the last
  line.
- Two plain numbers (``5``, ``9.19``, ``1/2``, ``\frac{1}{2}``, with or without a unit) are equal
  when exactly so, or when they differ by at most half of the last decimal place of the coarser one
  and by at most 0.5 %. They are different when they differ by more than that half and by more than
  5 %, unless a unit other than degrees could explain it. In between, and for two different units,
  nothing is decided.
- Other expressions of numbers, roots and pi are equal when the given equivalence finds them equal,
  and never different.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal, TypeAlias

from pytest_llmeval.scoring.judge.question import CANDIDATE_LIMIT

PREFILTER_VERSION: Final = "prefilter/3"
"""Changes with every change of the rules or limits."""

ROUNDING_SHARE: Final = Fraction(5, 1000)
"""Largest difference that rounding explains, as a share of the target (9.2 and 9.19 differ by
0.1 %)."""

CLEARLY_APART: Final = Fraction(5, 100)
"""Difference, as a share of the larger number, above which numbers are different."""

LINE_LIMIT: Final = 400
"""Characters of a last line; in a longer one nothing counts as plainly stated."""

Decision: TypeAlias = Literal["equal", "different", "undecided"]

Equivalence: TypeAlias = Callable[[str, str], bool]
"""Returns whether two LaTeX expressions of numbers, (answer, target), are certainly equal.

False means unknown.
"""

_WORD = r"(?:so|thus|therefore|hence|finally|we\s+get|we\s+have)"
_NAME = r"(?:m?\s*\\angle\s*\{?[A-Z1-9]{1,3}\}?|\\overline\s*\{[A-Z]{2}\}|[a-z]|[A-Z]{1,2})"
_LEAD = re.compile(
    rf"(?i:{_WORD}[\s,:]+)?(?i:the\s+)?(?i:final\s+)?(?i:answer\s*(?:is)?\s*:?\s*)?"
    rf"(?:{_NAME}\s*(?:=|≈|\\approx|is)\s*)?"
)
_MARKUP = re.compile(r"\*\*|__|\\\[|\\\]|\\\(|\\\)|\$|^\s*#+\s|\\displaystyle")
_BOX = re.compile(r"\\boxed\s*\{(?P<inner>(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}")
_MENTION = re.compile(
    r"\\(?:f|frame)?box|answer|\b(?:final|result|solution)\b.{0,40}?(?:\bis\b|[=:≈])\s*\S",
    re.IGNORECASE,
)

_DEGREE = r"°|\^\{?\\circ\}?|degrees?|deg"
_LENGTH = r"cm|mm|km|m|inch|inches|in|feet|foot|ft|yards?|yd|met(?:er|re)s?|units?"
_UNIT = rf"(?:{_DEGREE}|(?:square|sq\.?)?(?:{_LENGTH})(?:\^\{{?[23]\}}?|²|³)?)?"
_QUANTITY = re.compile(
    r"(?P<sign>[-+]?)"
    r"(?:(?P<whole>\d{1,15})(?:\.(?P<decimals>\d{1,15}))?(?:/(?P<over>\d{1,15}))?"
    r"|\\[dt]?frac\{(?P<top>\d{1,15})\}\{(?P<bottom>\d{1,15})\})"
    rf"(?P<unit>{_UNIT})"
)
_TEXT = re.compile(r"\\(?:text|mathrm|textrm|operatorname)\s*\{([^{}]*)\}")
_SPACE = re.compile(r"(?:\\[,;:! ]|~|\s)+")
_APART = re.compile(rf"\d{_SPACE.pattern}\d")
_COMMANDS = re.compile(r"\\(?:sqrt|[dt]?frac|pi|cdot|times|left|right)(?![A-Za-z])")
_MIXED = re.compile(r"\d\s*\\[dt]?frac|\d\s+\d")
_NUMERIC = re.compile(r"[0-9.+\-*/^{}()\s]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainDecision:
    """The decision of the prefilter on one reply.

    Attributes:
        decision: ``equal``, ``different``, or ``undecided`` (left to the judge).
        reason: the rule that applied.
        answer: the final answer found in the reply; None if there is no single plain one.
    """

    decision: Decision
    reason: str
    answer: str | None = None


@dataclass(frozen=True, slots=True)
class _Quantity:
    """A number with its unit; `decimals` is None for a fraction, which is exact."""

    value: Fraction
    decimals: int | None
    unit: str


def decide_plainly(
    candidate: str, target: str, *, equivalent: Equivalence | None = None
) -> PlainDecision:
    r"""Return whether a reply's answer equals the target, if that is plain.

    Args:
        candidate: the model's whole reply.
        target: the reference answer.
        equivalent: decides on expressions that are not plain numbers; without it they stay
            undecided.

    Example:
        >>> decide_plainly("The answer is 1/2", "0.5").decision
        'equal'
        >>> decide_plainly("It is either 1/2 or 1", "0.5").decision
        'undecided'
    """
    answer = plain_answer(candidate)
    if answer is None:
        return PlainDecision(
            decision="undecided", reason="the reply names no single plain final answer"
        )
    wanted, given = _quantity(target), _quantity(answer)
    latex = _latex(answer), _latex(target)
    if wanted and given:
        decision, reason = _compare(given, wanted)
    elif equivalent and all(map(_numeric, latex)) and equivalent(*latex):
        decision, reason = "equal", "equal expressions"
    else:
        decision, reason = "undecided", "not two plain numbers"
    return PlainDecision(
        decision=decision, reason=f"{reason}: {answer} for {target}", answer=answer
    )


def plain_answer(reply: str) -> str | None:
    """Return the final answer that the last line of a reply plainly states, or None."""
    text = reply.strip()
    *before, last = text.splitlines() or [""]
    if len(text) > CANDIDATE_LIMIT or len(last) > LINE_LIMIT:
        return None
    unmarked = (_MARKUP.sub(" ", line).strip() for line in (*before, last))
    *before, line = list(filter(None, unmarked)) or [""]
    if before and not (_mentions(before[-1]) or _mentions(line)):
        return None
    if before and _lead_length(before[-1]) == len(before[-1]):
        before.pop()  # a heading, such as "The final answer is:"
    if any(map(_mentions, before)):
        return None
    line = line.removesuffix(".").strip()
    rest = line[_lead_length(line) :].strip()
    if boxed := _BOX.fullmatch(rest):
        inner = boxed["inner"].strip()
        rest = inner[_lead_length(inner) :].strip()
    return None if not rest or _mentions(rest) else rest


def _mentions(line: str) -> bool:
    """Return whether a line has a box, mentions an answer, or states a result."""
    return _MENTION.search(line) is not None


def _lead_length(line: str) -> int:
    """Return the length of introductory words such as "the final answer is"."""
    lead = _LEAD.match(line)
    return lead.end() if lead else 0


def _quantity(text: str) -> _Quantity | None:
    """Return the plain number that `text` is, or None."""
    plain = _TEXT.sub(r" \1 ", text)
    found = _QUANTITY.fullmatch(_SPACE.sub("", plain))
    if found is None or _APART.search(plain):
        return None
    bottom = int(found["over"] or found["bottom"] or 1)
    if bottom == 0 or (found["over"] and found["decimals"]):
        return None
    decimals = found["decimals"] or ""
    top = Fraction(int((found["whole"] or found["top"]) + decimals), 10 ** len(decimals) * bottom)
    value = -top if found["sign"] == "-" else top
    unit = "°" if re.fullmatch(_DEGREE, found["unit"]) else found["unit"]
    exact = bool(found["over"] or found["bottom"])
    return _Quantity(value, None if exact else len(decimals), unit)


def _compare(given: _Quantity, wanted: _Quantity) -> tuple[Decision, str]:
    """Return the decision on two numbers, and the rule that applied."""
    if given.unit and wanted.unit and given.unit != wanted.unit:
        return "undecided", "two units"
    gap = abs(given.value - wanted.value)
    if gap == 0:
        return "equal", "equal numbers"
    places = min(
        (decimals for decimals in (given.decimals, wanted.decimals) if decimals is not None),
        default=None,
    )
    rounding = Fraction(0) if places is None else Fraction(1, 2 * 10**places)
    if places and gap <= min(rounding, ROUNDING_SHARE * abs(wanted.value)):
        return "equal", "equal but for rounding"
    if gap > max(rounding, CLEARLY_APART * abs(given.value), CLEARLY_APART * abs(wanted.value)):
        explained = given.unit != wanted.unit and {given.unit, wanted.unit} != {"", "°"}
        return ("undecided", "two units") if explained else ("different", "numbers clearly apart")
    return "undecided", "numbers close to each other"


def _numeric(latex: str) -> bool:
    """Return whether an expression consists of numbers, roots and pi, without mixed numbers."""
    return bool(_NUMERIC.fullmatch(_COMMANDS.sub(" ", latex))) and not _MIXED.search(latex)


def _latex(text: str) -> str:
    """Return `text` with plain-text roots and pi as LaTeX."""
    latex = re.sub(r"(?:√|(?<![\\A-Za-z])sqrt)\s*(?:\((\d+)\)|(\d+))", r"\\sqrt{\1\2}", text)
    return latex.replace("π", r"\pi ").replace(r"\,", " ")

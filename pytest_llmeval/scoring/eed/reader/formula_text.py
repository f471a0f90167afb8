r"""The formula in a text: in a box, between dollars, or the text itself.

Several boxes or formulas are joined as the words between them say, so that an answer which offers
two values is read as two.
"""

from __future__ import annotations

import re
from itertools import pairwise

_BOX = re.compile(r"\\f?(?:boxed|box)\s*\{|\\bbox\s*(?:\[[^\]]*\])?\s*\{")
_LED_BY = re.compile(
    r"\b(?:for|when|where|if|with|holds?|assuming|provided|since|valid|using|taking|which|note|here)\b",
    re.IGNORECASE,
)
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_MATH = re.compile(
    r"\$\$(?P<display>.+?)\$\$|(?<!\\)\$(?P<inline>[^$]+?)(?<!\\)\$"
    r"|\\\[(?P<bracket>.+?)\\\]|\\\((?P<paren>.+?)\\\)",
    re.DOTALL,
)
_HEADING = re.compile(
    r"^[\s#>*_]*(?:the\s+)?(?:final\s+|correct\s+)?(?:answer|result|solution)(?:\s+is)?\s*[:=]?\s*"
    r"|^[\s#>]*\*\*(?=[^*])",
    re.IGNORECASE,
)
_MARKDOWN = re.compile(r"\*\*|^#+\s|`")
_ALTERNATIVE = re.compile(
    r"\b(?:maybe|perhaps|possibly|alternatively|might|could|wait|actually|instead|corrected|although)\b|^\W*(?:\w+\W+){0,3}?or\b",
    re.IGNORECASE,
)
_APPROXIMATELY = re.compile(r"^\W*(?:approximately|about|roughly|approx\.?)\W*$", re.IGNORECASE)
_UNIT_BEHIND = re.compile(r"\s*(?P<unit>[A-Za-zµΩ°%][A-Za-zµΩ°/^·*\d -]{0,15})[.,;]?\s*$")
_FENCE = re.compile(r"```\w*")
_DENIED = re.compile(
    r"does(?:n't| not) exist|\bno (?:real |finite )?(?:solutions?|limit)\b"
    r"|undefined|diverges|impossible",
    re.IGNORECASE,
)
_BOTH = re.compile(r"^\W*(?:\w+\W+){0,2}?and\W*(?:\w+\W*){0,2}$", re.IGNORECASE)
_RELATION = re.compile(r"[=<>]|\\(?:in|leq?|geq?|approx|equiv)(?![A-Za-z])")
_DEFINES = re.compile(r"=|\\equiv|\\approx|\\coloneqq")
_WORD = re.compile(r"[A-Za-z]{2,}")
_MATH_IN_TEXT = re.compile(r"\\(?:text|mbox|textrm)\s*\{[^{}$]*\$[^$]*\$")
_TEXT = r"\text{"
OR = r" \text{ or } "
AND = r" \text{ and } "
WHERE = r" \text{ where } "


def formula_text(text: str) -> str:
    r"""Return the formula that a text states, as LaTeX.

    Example:
        >>> formula_text(r"So $x = 2$ or $x = 3$.")
        'x = 2 \\text{ or } x = 3'
    """
    text = _FENCE.sub(" ", text)
    text = _MATH_IN_TEXT.sub(
        lambda found: found[0].replace("$", "}", 1).replace("$", _TEXT, 1), text
    )
    boxes = _boxes(text)
    if boxes:
        return _joined(text, boxes)
    text = _HEADING.sub("", text, count=1)
    formulas = [
        (found.start(), found.end(), next(filter(None, found.groups())))
        for found in _MATH.finditer(text)
    ]
    outside = _MATH.sub(" ", text)
    if formulas and _DENIED.search(text[: formulas[0][0]]):
        return rf"\text{{{outside}}}"
    if not formulas or not _WORD.search(re.sub(r"\\[A-Za-z]+", "", outside)):
        return _MARKDOWN.sub("", text)
    displayed = [found for found in formulas if text.startswith(("$$", "\\["), found[0])]
    if displayed:
        formulas = displayed
    if re.search(r"[=\\^_\d]", outside):  # a formula that goes on outside of the dollars
        return _MARKDOWN.sub("", text) if len(formulas) == 1 else _joined(text, formulas)
    return _joined(text, formulas)


def _joined(text: str, formulas: list[tuple[int, int, str]]) -> str:
    """Join formulas as the words between them say; where words only lead on, the last counts."""
    result, left_out = formulas[0][2], False
    for (_, end, _), (start, _, formula) in pairwise(formulas):
        between = re.sub(r"\\[A-Za-z]+", " ", text[end:start])
        joint = _joint(between, formula)
        if joint and not (left_out and joint == AND):
            result += joint + formula
            left_out = False
            continue
        left_out = bool(_RELATION.search(result)) and not _RELATION.search(formula)
        if not left_out:
            result = formula
    return result + _addition(text[formulas[-1][1] :])


def _joint(between: str, formula: str) -> str:
    """Return what joins a formula to those before it; "" if it takes their place."""
    if _ALTERNATIVE.search(between):
        return OR
    if _APPROXIMATELY.search(between):
        return r" \approx "
    if between.strip().startswith("("):
        return WHERE
    if _BOTH.search(between):
        return AND
    if _LED_BY.search(between) and _RELATION.search(formula):
        return WHERE
    return "" if _WORD.search(between) else r" \quad "


def _addition(behind: str) -> str:
    """Return what the text behind the last formula adds: another value, a unit, a definition."""
    if _ALTERNATIVE.search(behind) and re.search(r"[\d\\]", behind):
        return OR + formula_text(behind)
    if unit := _UNIT_BEHIND.fullmatch(behind):
        return rf"\text{{ {unit['unit']} }}"
    if _DEFINES.search(behind):
        return WHERE + re.sub(r"\$|^[\s.,;]+|[\s.]+$", "", behind)
    return ""


def _boxes(text: str) -> list[tuple[int, int, str]]:
    """Return start, end and content of each outermost box; a box inside a box is opened."""
    found: list[tuple[int, int, str]] = []
    position = 0
    while box := _BOX.search(text, position):
        end = closing_brace(text, box.end())
        if end is None:
            break
        inside = text[box.end() : end]
        found.append(
            (box.start(), end + 1, formula_text(inside) if _BOX.search(inside) else inside)
        )
        position = end + 1
    return found


def closing_brace(text: str, start: int) -> int | None:
    """Return the position of the brace that closes the one before `start`; None if none does."""
    depth = 1
    for match in _BRACE.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if depth == 0:
            return match.start()
    return None

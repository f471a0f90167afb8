r"""Units behind a value, such as ``\text{m/s}``, ``\mathrm{kg\,m\,s^{-2}}``, ``\mu\text{F}``."""

from __future__ import annotations

import re

from pytest_llmeval.scoring.eed.reader.commands import FONTS
from pytest_llmeval.scoring.eed.reader.cursor import Cursor
from pytest_llmeval.scoring.eed.reader.token import Tokens
from pytest_llmeval.scoring.units import Unit, UnknownUnitError, unit_at

_UPRIGHT = FONTS - {
    "mathbf",
    "boldsymbol",
    "bm",
    "pmb",
    "textbf",
    "mathit",
    "textit",
    "operatorname",
}
_SIGNS = {
    "mu": "µ",
    "Omega": "Ω",
    "cdot": "*",
    "times": "*",
    "circ": "°",
    "degree": "°",
    "AA": "Å",
    "ell": "l",
}
_CONSTANTS = frozenset("e i c h k G R pi d hbar".split())  # noqa: SIM905
"""Upright letters that are constants, though pint knows them as units."""

_WORD = re.compile(r"[^\W\d_]+")
_WORDS_ONLY = re.compile(r"[\s.,;()A-Za-z-]*")
_EXPONENT = re.compile(r"\^\{?\s*([-+]?\d)\s*\}?")


def split_unit(tokens: Tokens, *, plain: bool = False) -> tuple[Tokens, Unit | None]:
    """Split tokens into the value and the unit behind it; the unit is None if there is none.

    Args:
        tokens: one side of an answer.
        plain: whether letters in italics behind a number may be a unit, as in ``5 m``.
    """
    depth = 0
    for place, token in enumerate(tokens):
        depth += token.nesting
        if (
            not place
            or depth
            or (tokens[place - 1].is_mark("_", "^", "{") and not _is_degree(tokens, place))
        ):
            continue
        if not (_starts_unit(tokens, place) or (plain and _follows_number(tokens, place))):
            continue
        start = place - 1 if _is_degree(tokens, place) else place
        unit = _unit(tokens[start:])
        if unit is not None:
            return tokens[:start], unit
    return tokens, None


def _is_degree(tokens: Tokens, place: int) -> bool:
    """Return whether a degree sign before a temperature scale stands here, behind its ``^``."""
    rest = tokens[place : place + 3]
    return (
        tokens[place - 1].is_mark("^")
        and tokens[place].is_command("circ")
        and len(rest) > 1
        and (rest[1].kind == "text" or rest[1].is_command(*_UPRIGHT))
    )


def _starts_unit(tokens: Tokens, place: int) -> bool:
    token = tokens[place]
    numeric = not any(item.kind == "letter" for item in tokens[:place])
    if token.kind == "text" or _is_degree(tokens, place):
        return True
    if token.is_command(*_UPRIGHT):
        return numeric or token.spaced or len(_name_at(tokens, place)) > 1
    if not numeric:
        return False
    if token.is_command("Omega"):
        return tokens[place - 1].kind == "number" or token.spaced
    prefix = token.is_command("mu") or (token.kind == "letter" and token.text in "kM")
    return (prefix or token.is_mark("/") or token.is_command("frac")) and any(
        item.kind == "text" or item.is_command("Omega", *_UPRIGHT) for item in tokens[place + 1 :]
    )


def _follows_number(tokens: Tokens, place: int) -> bool:
    return tokens[place].kind in ("letter", "command") and not any(
        item.kind in ("letter", "text") for item in tokens[:place]
    )


def _name_at(tokens: Tokens, place: int) -> str:
    """Return the letters of the group behind the font at `place`."""
    name = ""
    for token in tokens[place + 1 :]:
        if token.kind == "letter":
            name += token.text
        elif not token.is_mark("{"):
            break
    return name


def _unit(tokens: Tokens) -> Unit | None:
    """Return the unit that all tokens write, apart from words behind it; None if they do not."""
    text = _text(tokens)
    if text is None or (found := _WORD.search(text)) is None or found[0] in _CONSTANTS:
        return None
    inverse = text.startswith("/")
    text = text.removeprefix("/").strip()
    try:
        unit = unit_at(text, 0)
    except UnknownUnitError:
        return None
    if unit is None:
        return None
    rest = text[len(unit.text) :]
    unit = _reciprocal(unit) if inverse else unit
    return unit if _WORDS_ONLY.fullmatch(rest) and not rest.startswith("(") else None


def _reciprocal(unit: Unit) -> Unit:
    dimension = frozenset((base, -power) for base, power in unit.dimension)
    return Unit(f"1/{unit.text}", 1 / unit.factor, dimension)


def _fraction_text(tokens: Tokens) -> str | None:
    """Return numerator and denominator of a fraction of units as ``N/(A*m)``."""
    cursor = Cursor(tokens)
    upper, lower = _text(cursor.group()), _text(cursor.group())
    if not (upper and lower and cursor.done):
        return None
    return f"{upper}/({lower})" if _WORD.search(upper) else f"/({lower})"


def _text(tokens: Tokens) -> str | None:
    """Return tokens as the text of a unit; None if they can be none."""
    if tokens and tokens[0].is_command("frac"):
        return _fraction_text(tokens[1:])
    parts: list[str] = []
    for token in tokens:
        if (token.spaced or token.kind == "text") and parts[-1:] != ["µ"]:
            parts.append(" ")
        if token.kind in ("text", "letter", "number"):
            parts.append(token.text.strip())
        elif token.kind == "command" and token.text in _SIGNS:
            parts.append(_SIGNS[token.text])
        elif token.is_mark("/", "^", "(", ")", "-", "%", "{", "}", "+", "'"):
            parts.append(token.text)
        elif not token.is_command(*FONTS):
            return None
    text = "".join(parts)
    text = _EXPONENT.sub(r"^\1", text)
    return re.sub(r"[{}]", "", text).replace("^°", "°").strip()

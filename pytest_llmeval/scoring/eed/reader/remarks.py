r"""The pieces of an answer: its formulas, and the remarks beside them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pytest_llmeval.scoring.eed.reader.commands import FUNCTIONS
from pytest_llmeval.scoring.eed.reader.guards import FormulaError
from pytest_llmeval.scoring.eed.reader.splitting import relates
from pytest_llmeval.scoring.eed.reader.token import Token, Tokens
from pytest_llmeval.scoring.units import UnknownUnitError, unit_at

_ALTERNATIVE = frozenset(
    "or but maybe perhaps possibly alternatively might could else otherwise".split()  # noqa: SIM905
)
_CHANGES = frozenset(
    "half twice double triple quarter minus negative reciprocal inverse opposite".split()  # noqa: SIM905
)
"""Words before a formula that make it another value."""
_DENIALS = frozenset(
    "no extraneous rejected wrong incorrect invalid impossible false".split()  # noqa: SIM905
)
"""Words behind a formula that take it back."""
_LEADING = frozenset(
    "where with for if when since as using given assuming because here provided while note".split()  # noqa: SIM905
)
_BOTH = frozenset({"and", "also"})
_EQUIVALENT = frozenset({"equivalently", "i.e.", "ie", "namely", "that"})
_BRACKETED = re.compile(r"\([^()]*\)")
_WORD = re.compile(r"[A-Za-z.]+")


@dataclass(frozen=True, slots=True)
class Piece:
    """One formula of an answer.

    Attributes:
        tokens: its tokens.
        alternative: whether "or" stands before it.
    """

    tokens: Tokens
    alternative: bool


def pieces_of(tokens: Tokens) -> tuple[list[Piece], list[Tokens]]:
    """Return the formulas of an answer, and its remarks.

    A remark is what a word such as "where" introduces, or a bracket with a relation at the end.
    """
    tokens, remarks = _without_bracketed_remarks(tokens)
    pieces: list[Piece] = []
    start, alternative, in_remark = 0, False, False

    def close(end: int) -> None:
        piece = _trimmed(tokens[start:end])
        if piece and in_remark:
            remarks.append(piece)
        elif piece:
            pieces.append(Piece(piece, alternative))

    depth = 0
    for place, token in enumerate(tokens):
        depth += token.nesting
        if depth:
            continue
        role = _role(tokens, place)
        if not role:
            continue
        if _trimmed(tokens[start:place]):
            close(place)
            alternative = False
        start = place + 1
        alternative = alternative or role == "or"
        in_remark = (bool(pieces) and role == "remark") or (in_remark and role == "separator")
    close(len(tokens))
    return pieces, remarks


def _role(tokens: Tokens, place: int) -> str:
    """Return what a token is between formulas: a separator, "or", "and", a remark, or ""."""
    token = tokens[place]
    if token.is_mark(",", ";") or token.is_command("newline", "quad", "qquad"):
        return "separator"
    if token.kind == "text":
        return _role_of_words(tokens, place)
    if token.is_command("vee", "wedge") and _between_relations(tokens, place):
        return "or" if token.text == "vee" else "and"
    return ""


def _role_of_words(tokens: Tokens, place: int) -> str:
    token = tokens[place]
    words = _words(token.text)
    _check_words(tokens, place, words)
    if words & {"not", "however", "actually", "instead"} and _relation_follows(tokens, place):
        return "or"
    if words & _EQUIVALENT and not words & {"but"}:
        return "and"
    if words & _ALTERNATIVE:
        return "or"
    if words and words <= _BOTH:
        return "and"
    if _BRACKETED.fullmatch(token.text.strip()):
        return "separator"
    return "remark" if _is_remark(tokens, place) else ""


def _check_words(tokens: Tokens, place: int, words: set[str]) -> None:
    """Raise FormulaError for words that change the value of a formula, or take it back."""
    if words & _CHANGES and place + 1 < len(tokens):
        msg = f"words that change the value: {tokens[place].text.strip()!r}"
        raise FormulaError(msg)
    formulas_behind = any(token.kind in ("number", "letter") for token in tokens[place + 1 :])
    bracketed = tokens[place].text.rstrip().endswith(")")
    if words & _DENIALS and place and len(words) > 1 and not (formulas_behind or bracketed):
        msg = f"words that take the answer back: {tokens[place].text.strip()!r}"
        raise FormulaError(msg)


def _relation_follows(tokens: Tokens, place: int) -> bool:
    return bool(place) and any(map(_relates, tokens[place + 1 :]))


def _between_relations(tokens: Tokens, place: int) -> bool:
    return any(_relates(token) for token in tokens[:place]) and any(
        _relates(token) for token in tokens[place:]
    )


def _relates(token: Token) -> bool:
    """Return whether a token stands between sides of a relation, or says what something goes to."""
    return relates(token) or token.is_command("to")


def _words(text: str) -> set[str]:
    return {word.lower().strip(".") for word in _WORD.findall(text)}


def _is_remark(tokens: Tokens, place: int) -> bool:
    """Return whether a text is a remark: words that are neither a unit, a name nor a function."""
    text = tokens[place].text.strip()
    if tokens[place - 1].is_mark("_", "^") and place:
        return False
    if text.split()[:1] and text.split()[0].lower() in _LEADING:
        return True
    following = tokens[place + 1] if place + 1 < len(tokens) else None
    name = text.isalnum() and text.isascii()
    if following is not None and (_relates(following) or following.is_mark("_", "'")):
        return len(text.split()) > 1 and place > 0
    if text in FUNCTIONS or not _WORD.search(text) or _is_unit(text):
        return False
    if not place:
        return not name
    joined = following is not None and (
        following.is_mark(*"+-*/^") or following.is_command("cdot", "times")
    )
    return not (name and (joined or not tokens[place].text[0].isspace()))


def _is_unit(text: str) -> bool:
    """Return whether a text begins with a unit."""
    try:
        return unit_at(text, 0) is not None
    except UnknownUnitError:
        return False


def _trimmed(tokens: Tokens) -> Tokens:
    while tokens and tokens[-1].is_mark(".", ",", ";", ":"):
        tokens = tokens[:-1]
    while tokens and tokens[0].is_mark(",", ";", ":"):
        tokens = tokens[1:]
    return tokens


def _without_bracketed_remarks(tokens: Tokens) -> tuple[Tokens, list[Tokens]]:
    """Take out brackets at the end that hold a relation or words, such as ``(g = 9.8)``."""
    remarks: list[Tokens] = []
    while (opening := _last_bracket(tokens)) is not None and opening:
        inside = tokens[opening + 1 : -1]
        words = len(inside) == 1 and inside[0].kind == "text" and not _is_unit(inside[0].text)
        relation = any(_relates(token) for token in inside)
        if not (words or relation) or not _stands_apart(tokens, opening):
            break
        if inside[0].kind == "text" and _offers_another(inside[0].text):
            return [*tokens[:opening], *inside], remarks
        remarks.append(inside)
        tokens = _trimmed(tokens[:opening])
        while tokens and tokens[-1].is_command("quad", "qquad"):
            tokens = tokens[:-1]
    return tokens, remarks


def _offers_another(text: str) -> bool:
    return bool(_words(text) & _ALTERNATIVE)


def _last_bracket(tokens: Tokens) -> int | None:
    """Return where the bracket that ends the tokens begins; None if they end with none."""
    if not tokens or not tokens[-1].is_mark(")", "]"):
        return None
    depth = 0
    for place in range(len(tokens) - 1, -1, -1):
        depth -= tokens[place].nesting
        if not depth:
            return place
    return None


def _stands_apart(tokens: Tokens, opening: int) -> bool:
    """Return whether no operator or relation stands before the bracket at `opening`."""
    before = tokens[opening - 1]
    operator = before.is_mark(*"+-*/=^_<>") or before.is_command(
        "cdot", "times", "cup", "cap", "in"
    )
    return not (operator or _relates(before))

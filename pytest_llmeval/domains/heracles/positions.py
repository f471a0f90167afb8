"""What may come next at each place of a Cypher text: an operand, or something that follows one.

Cypher reserves no word: ``create`` may be a variable, a property, a label, a map's key or an alias.
But no clause begins where an operand is expected, and no name stands where none is, so one pass
from left to right tells names and clauses of a valid query apart, without a parser. Where it cannot
tell, both count as possible.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Flag, auto
from typing import Final

from pytest_llmeval.domains.heracles.tokens import END, Token


def words(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


class Next(Flag):
    """What may come next: an operand such as a name, or an operator, a bracket or a clause."""

    OPERAND = auto()
    CLAUSE = auto()


_EITHER: Final = Next.OPERAND | Next.CLAUSE

_BEFORE_OPERAND: Final = (
    *(".", "..", ":", "$", "(", "[", ",", "=", "<", "-", "/", "^", "&", "|", "~"),
)
_AFTER_OPERAND: Final = (")", "]", "}", "{")
"""Among them the bracket that opens a subquery, in which a clause comes first."""

_BEFORE_NAME: Final = (".", ":", "$")
"""Before a property, a label or a parameter, which may have the name of any keyword."""

_KEYWORDS_BEFORE_OPERAND: Final = words(
    """
    AND AS BY CALL CONTAINS ELSE ENDS IN IS LIMIT MATCH NOT OFFSET ON OR ORDER RETURN SKIP STARTS
    THEN UNWIND USING WHEN WHERE WITH XOR YIELD
    """
)
_KEYWORDS_BEFORE_CLAUSE: Final = words("ALL ASC ASCENDING DESC DESCENDING END OPTIONAL UNION")
_FOLLOWING: Final[Mapping[str, Next]] = {
    **dict.fromkeys(_KEYWORDS_BEFORE_OPERAND, Next.OPERAND),
    **dict.fromkeys(_KEYWORDS_BEFORE_CLAUSE, Next.CLAUSE),
}

_BEFORE_OPERAND_IN_ITS_PLACE: Final = words("BY CASE DISTINCT NOT WHEN WITH")
"""Keywords that may stand where an operand is expected, and expect one themselves."""

KEYWORDS: Final = words("CASE DISTINCT") | _FOLLOWING.keys() - words("ALL ON")
"""The words that structure a query."""

_TYPES_WITH_PARTS: Final = words("ARRAY LIST VECTOR")
_BINDING_SIGNS: Final = (")", "]", ":", "{", "=", "*", ",")
_BINDING_WORDS: Final = words("AS IN IS WHERE")


def expected(tokens: Sequence[Token], bound: frozenset[str]) -> list[Next]:
    """Return what may come at the place of each token; `bound` as of `names_of_variables`."""
    typed = False  # whether `>` may end the type of a list, as in LIST<INTEGER>
    coming, before = Next.CLAUSE, END
    found = []
    for token in tokens:
        found.append(coming)
        if token.kind == "word":
            coming = _after_word(token.word, before, coming, bound)
        elif token.kind == "sign":
            typed = typed or (token.text == "<" and before.word in _TYPES_WITH_PARTS)
            coming = _after_sign(token.text, before, coming, typed=typed)
        else:
            coming = Next.CLAUSE
        before = token
    return found


def names_of_variables(tokens: Sequence[Token]) -> frozenset[str]:
    """Return the keywords that name a variable somewhere, in backquotes or not.

    A variable that is not bound in one of these ways cannot be used in a valid query.
    """
    found = set()
    for before, token, after in zip([END, *tokens], tokens, [*tokens[1:], END], strict=False):
        name = token.text.casefold().upper()
        if not token.is_name or name not in KEYWORDS or before.is_sign(*_BEFORE_NAME):
            continue
        opened = before.is_sign("(", "[", ",") or before.word == "YIELD"
        declared = after.is_sign(*_BINDING_SIGNS) or after.word in _BINDING_WORDS
        if before.word == "AS" or after.is_sign("=") or (opened and declared):
            found.add(name)
    return frozenset(found)


def _after_word(word: str, before: Token, coming: Next, bound: frozenset[str]) -> Next:
    if before.is_sign(*_BEFORE_NAME):
        return Next.CLAUSE
    after = Next(0)
    if Next.CLAUSE in coming:
        after |= _FOLLOWING.get(word, _EITHER)
    if Next.OPERAND in coming:
        # A label, too, may be called so: n:A|NOT, n IS NOT.
        labels = before.is_sign("|", "&", "!") or before.word == "IS"
        if word not in _BEFORE_OPERAND_IN_ITS_PLACE:
            after |= Next.CLAUSE
        else:
            after |= _EITHER if word in bound or labels else Next.OPERAND
    return after


def _after_sign(sign: str, before: Token, coming: Next, *, typed: bool) -> Next:
    if sign in _BEFORE_OPERAND:
        return Next.OPERAND
    if sign in _AFTER_OPERAND:
        return Next.CLAUSE
    if sign == "!":  # n:!Label, or INTEGER! for NOT NULL
        return coming
    if sign == ">":
        return _EITHER if typed else Next.OPERAND
    if sign in {"*", "+", "%"}:
        # An operator; or RETURN *, count(*), n:%, a sign of a number; or (..)+, a repeated path.
        in_place = Next.OPERAND if sign == "+" else Next.CLAUSE
        between = _EITHER if before.is_sign(")") else Next.OPERAND
        after = between if Next.CLAUSE in coming else Next(0)
        return after | in_place if Next.OPERAND in coming else after
    return _EITHER

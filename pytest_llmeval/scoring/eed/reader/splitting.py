"""Splitting tokens at relations, words and other marks outside of brackets."""

from __future__ import annotations

from collections.abc import Callable

from pytest_llmeval.scoring.eed.reader.commands import APPROXIMATELY, EQUALS, INEQUALITIES
from pytest_llmeval.scoring.eed.reader.cursor import written
from pytest_llmeval.scoring.eed.reader.guards import FormulaError
from pytest_llmeval.scoring.eed.reader.token import Token, Tokens

OTHERWISE = frozenset({"otherwise", "else", "elsewhere"})


def split(tokens: Tokens, at: Callable[[Token], bool]) -> tuple[list[Tokens], list[Token]]:
    """Split at the tokens outside all brackets and environments for which `at` holds.

    Returns:
        The parts, and the tokens between them.
    """
    parts: list[Tokens] = []
    between: list[Token] = []
    depth = start = 0
    for position, token in enumerate(tokens):
        depth += token.nesting
        if depth == 0 and at(token):
            parts.append(tokens[start:position])
            between.append(token)
            start = position + 1
    return [*parts, tokens[start:]], between


def compares(token: Token) -> bool:
    """Return whether a token is an inequality sign or the like."""
    return token.kind in ("mark", "command") and token.text in INEQUALITIES


def bounds(token: Token) -> bool:
    """Return whether a token is an inequality sign or says what something is in."""
    return compares(token) or token.is_command("in", "notin")


def equates(token: Token) -> bool:
    """Return whether a token is an equals or approximation sign."""
    return token.kind in ("mark", "command") and token.text in EQUALS | APPROXIMATELY


def relates(token: Token) -> bool:
    """Return whether a token stands between the sides of a relation."""
    return bounds(token) or equates(token)


def is_condition(tokens: Tokens) -> bool:
    """Return whether tokens state a condition."""
    return any(relates(token) for token in tokens) or bool(OTHERWISE & word_set(tokens))


def condition_split(tokens: Tokens) -> tuple[Tokens, Tokens]:
    """Split ``x, x > 0`` or ``x if x > 0`` into the value and its condition."""

    def separates(token: Token) -> bool:
        return token.is_mark(",") or token.kind == "text" or token.is_command("quad", "qquad")

    for place, token in enumerate(tokens):
        if separates(token) and place and is_condition(tokens[place:]):
            return tokens[:place], tokens[place if token.kind == "text" else place + 1 :]
    msg = "a case without its condition"
    raise FormulaError(msg)


def is_word(token: Token, word: str) -> bool:
    """Return whether a text is one word."""
    return token.kind == "text" and token.text.strip().lower() == word


def words(tokens: Tokens) -> list[str]:
    """Return the words and symbols of tokens in small letters, without punctuation."""
    return [
        word.strip(".,;:").lower()
        for token in tokens
        if not token.is_command("quad", "qquad")
        for word in (token.text.split() if token.kind == "text" else [token.text])
        if word.strip(".,;:")
    ]


def word_set(tokens: Tokens) -> set[str]:
    """Return the words of tokens, and what their letters spell."""
    letters = written([token for token in tokens if token.kind == "letter"])
    return {*words(tokens), letters.lower()}

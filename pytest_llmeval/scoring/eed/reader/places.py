"""Looking around in tokens: what stands at a place, and where a group ends."""

from __future__ import annotations

from pytest_llmeval.scoring.eed.reader.commands import GREEK
from pytest_llmeval.scoring.eed.reader.cursor import END
from pytest_llmeval.scoring.eed.reader.token import Token, Tokens


def is_name(token: Token) -> bool:
    """Return whether a token is a letter, also a Greek one."""
    return token.kind == "letter" or (token.kind == "command" and token.text in GREEK)


def token_at(tokens: Tokens, place: int) -> Token:
    """Return the token at a place, END outside of the tokens."""
    return tokens[place] if 0 <= place < len(tokens) else END


def group_end(tokens: Tokens, start: int) -> int:
    """Return the place behind the bracket or single token at `start`."""
    if token_at(tokens, start).nesting != 1:
        return start + 1
    depth = 0
    for place in range(start, len(tokens)):
        depth += tokens[place].nesting
        if not depth:
            return place + 1
    return len(tokens)


def behind_scripts(tokens: Tokens, place: int) -> int:
    """Return the place behind the primes and subscripts at `place`."""
    while token_at(tokens, place).is_mark("'", "_"):
        place = place + 1 if tokens[place].text == "'" else group_end(tokens, place + 1)
    return place

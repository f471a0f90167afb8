"""Open intervals in reversed brackets, as in ``]0, 1[``, with round ones."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_llmeval.scoring.eed.reader.token import Token

_ROUND_OPEN, _ROUND_CLOSE = Token("mark", "("), Token("mark", ")")


def with_round_brackets(tokens: Sequence[Token]) -> list[Token]:
    """Return tokens in which a bracket that is turned the other way has become a round one."""
    result = list(tokens)
    opened: list[int] = []
    for place, token in enumerate(result):
        if token.is_mark("(", "["):
            if token.text == "[" and opened and _ends_interval(result, opened[-1], place):
                result[place] = _ROUND_CLOSE
                opened.pop()
            else:
                opened.append(place)
        elif token.is_mark(")", "]"):
            if opened:
                opened.pop()
            elif token.text == "]":
                result[place] = _ROUND_OPEN
                opened.append(place)
    return result


def _ends_interval(tokens: Sequence[Token], opening: int, place: int) -> bool:
    """Return whether a "[" closes an interval: two ends stand before it, and no end behind it."""
    inside = tokens[opening + 1 : place]
    behind = tokens[place + 1] if place + 1 < len(tokens) else None
    commas = sum(token.is_mark(",", ";") for token in inside)
    ends_here = behind is None or behind.is_mark(",", ".") or behind.is_command("cup", "cap")
    return commas == 1 and bool(inside) and not inside[-1].is_mark(",", ";") and ends_here

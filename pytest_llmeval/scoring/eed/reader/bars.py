r"""States between a bar and an angle bracket, as commands: ``|0\rangle`` becomes ``\ket{0}``.

A bar may also open an absolute value, and a comma inside a state separates nothing; so states are
found before anything else is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pytest_llmeval.scoring.eed.reader.token import Token

_OPEN, _CLOSE = Token("mark", "{"), Token("mark", "}")


def with_states(tokens: Sequence[Token]) -> list[Token]:
    r"""Return tokens with ``\ket{}``, ``\bra{}``, ``\braket{}`` and ``\mean{}`` for bars."""
    if not any(token.is_command("rangle", "langle") for token in tokens):
        return list(tokens)
    result: list[Token] = []
    place = 0
    while place < len(tokens):
        token = tokens[place]
        command, end = "", place
        if token.is_mark("|"):
            end = _end_of_ket(tokens, place + 1)
            command = "ket" if end else ""
        elif token.is_command("langle"):
            command, end = _angle(tokens, place + 1)
        if command:
            inside = tokens[place + 1 : end]
            first = replace(Token("command", command), spaced=token.spaced)
            result += [first, _OPEN, *inside, _CLOSE]
            place = end + 1
        else:
            result.append(token)
            place += 1
    return result


def _end_of_ket(tokens: Sequence[Token], start: int) -> int:
    """Return where the state that begins at `start` ends with an angle; 0 if it does not."""
    for place in range(start, len(tokens)):
        token = tokens[place]
        if token.is_command("rangle"):
            return place
        if token.is_mark("|", "=") or token.is_command("langle"):
            return 0
    return 0


def _ends_bra(following: Sequence[Token]) -> bool:
    """Return whether what follows a bar cannot go on a bracket."""
    return not following or following[0].is_mark(*"+-=),.|]}") or following[0].is_command("langle")


def _angle(tokens: Sequence[Token], start: int) -> tuple[str, int]:
    """Return the command of what begins with an angle, and where it ends."""
    bars: list[int] = []
    for place in range(start, len(tokens)):
        token = tokens[place]
        if token.is_command("rangle"):
            return ("braket" if bars else "mean"), place
        if token.is_command("langle"):
            break
        if token.is_mark("|"):
            bars.append(place)
            if _ends_bra(tokens[place + 1 : place + 2]):
                break
    return ("bra", bars[0]) if bars else ("", start)

"""Which scripts of a formula are indices of tensors, and which are exponents."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_llmeval.scoring.eed.reader.places import group_end, token_at
from pytest_llmeval.scoring.eed.reader.token import Token, Tokens

_INDICES = frozenset("mu nu lambda rho sigma kappa alpha beta gamma delta tau".split())  # noqa: SIM905


_LATIN_INDICES = frozenset("ijklmn")


def has_indices(tokens: Tokens) -> bool:
    """Return whether scripts are indices of tensors.

    They are if two Greek letters stand in one script, or an index stands twice: raised and lowered,
    or in two lowered pairs of Latin ones.
    """
    raised: list[list[str]] = []
    lowered: list[list[str]] = []
    for place, token in enumerate(tokens):
        if not token.is_mark("^", "_") or token_at(tokens, place - 1) == Token("letter", "e"):
            continue
        inside = tokens[place + 1 : group_end(tokens, place + 1)]
        names = [item.text for item in inside if not item.is_mark("{", "}")]
        latin = len(names) > 1 and all(name in _LATIN_INDICES for name in names)
        greek = bool(names) and all(name in _INDICES for name in names)
        if (greek and len(names) > 1) or (latin and _is_symbol_of_indices(tokens, place - 1)):
            return True
        if greek or latin or (len(names) == 1 and names[0] in _LATIN_INDICES and token.text == "_"):
            (raised if token.text == "^" else lowered).append(names)
    return _index_stands_twice(raised, lowered)


def _is_symbol_of_indices(tokens: Tokens, place: int) -> bool:
    """Return whether the symbol of Levi-Civita or Kronecker stands here."""
    return token_at(tokens, place).is_command("epsilon", "delta")


def _index_stands_twice(raised: Sequence[Sequence[str]], lowered: Sequence[Sequence[str]]) -> bool:
    below = {name for names in lowered for name in names}
    if any(name in below for names in raised for name in names):
        return True
    pairs = [name for names in lowered if len(names) > 1 for name in names]
    return len(pairs) > len(set(pairs))


def is_indices(inside: Tokens) -> bool:
    """Return whether a raised group consists of indices of a tensor."""
    names = [token for token in inside if not token.is_mark("{", "}")]
    return bool(names) and all(
        (token.kind == "command" and token.text in _INDICES)
        or (token.kind == "letter" and token.text in _LATIN_INDICES)
        for token in names
    )

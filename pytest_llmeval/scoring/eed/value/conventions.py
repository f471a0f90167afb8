"""Conventions of physics that a task may allow: definitions that an answer need not state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import sympy

from pytest_llmeval.scoring.eed.reader.answer import Answer, symbols_in
from pytest_llmeval.scoring.eed.reader.symbols import symbol

_DEFINITIONS: Final[Mapping[str, Mapping[str, sympy.Expr]]] = {
    "planck": {"hbar": symbol("h") / (2 * sympy.pi)},
    "coulomb": {"k": 1 / (4 * sympy.pi * symbol("epsilon_0"))},
    "light": {"c": 1 / sympy.sqrt(symbol("mu_0") * symbol("epsilon_0"))},
    "frequency": {"omega": 2 * sympy.pi * symbol("f"), "nu": symbol("f")},
}
"""The names that each convention defines, with their values."""


def definitions(conventions: Sequence[str], *answers: Answer) -> dict[sympy.Basic, sympy.Basic]:
    """Return what conventions define of the symbols of answers.

    Args:
        conventions: names, as in `pytest_llmeval.scoring.eed.result.CONVENTIONS`.
        answers: in which the symbols stand, with the assumptions of their reading.
    """
    items = {item.name: item for answer in answers for item in symbols_in(answer)}
    defined = {
        name: value
        for convention in conventions
        for name, value in _DEFINITIONS[convention].items()
    }
    return {
        items[name]: value.xreplace(
            {part: items.get(part.name, part) for part in value.free_symbols}
        )
        for name, value in defined.items()
        if name in items
    }

"""Arbitrary constants, whose names mean nothing: those of integration, and counters of periods."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import permutations

import sympy

from pytest_llmeval.scoring.eed.reader.answer import Answer, symbols_in

_CONSTANT = re.compile(r"[Cck]_\d|[A-D]")
_INDEXED = re.compile(r"[Cc]_\d")
_FEWEST, _MOST = 2, 3


def renamings(answer: Answer, target: Answer) -> Iterator[Mapping[sympy.Basic, sympy.Basic]]:
    """Yield the ways to give the answer's constants of integration the names of the target's.

    Names that only one side has are constants if the target writes them C_1, C_2 or c_1, c_2, and
    the answer as constants are written. A single C may be a capacitance.
    """
    ours = symbols_in(answer) - symbols_in(target)
    theirs = symbols_in(target) - symbols_in(answer)
    constants = all(_INDEXED.fullmatch(item.name) for item in theirs) and all(
        _CONSTANT.fullmatch(item.name) for item in ours
    )
    if (
        len(ours) == len(theirs) == 1
        and _counts(answer.form, *ours)
        and _counts(target.form, *theirs)
    ):
        yield dict(zip(ours, theirs, strict=True))
    if constants and _FEWEST <= len(ours) == len(theirs) <= _MOST:
        for order in permutations(sorted(theirs, key=str)):
            yield dict(zip(sorted(ours, key=str), order, strict=True))


def _counts(form: sympy.Basic, name: sympy.Symbol) -> bool:
    """Return whether a letter counts periods: it stands in one term, before a multiple of pi."""
    if name.name not in ("k", "l", "m", "n") or not isinstance(form, sympy.Expr):
        return False
    return bool((sympy.diff(form, name) / sympy.pi).is_Rational)

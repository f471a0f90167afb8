"""Reading an answer and its target under one notation."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import sympy

from pytest_llmeval.scoring.eed.reader.answer import (
    Reading,
    expressions_in,
    replaced,
    symbols_in,
)
from pytest_llmeval.scoring.eed.reader.guards import FormulaError, check_text, reason_of
from pytest_llmeval.scoring.eed.reader.notation import Notation
from pytest_llmeval.scoring.eed.reader.statement import read
from pytest_llmeval.scoring.eed.reader.symbols import renamed
from pytest_llmeval.scoring.eed.reader.token import Tokens
from pytest_llmeval.scoring.eed.reader.tokens import tokens_of

ASSUMPTIONS = (
    "symbols are positive",
    "e is Euler's number",
    "log is the natural logarithm",
)
IMAGINARY = "i is the imaginary unit"
SIGNED = "symbols are real, of either sign"

_BRACED_SUBSCRIPT = re.compile(
    r"(\\[A-Za-z]+|[A-Za-z])_\{\s*(?:\\(?:text|mathrm|rm)\b\s*\{?\s*)?([A-Za-z]{2,})\s*\}"
)
_VARIANTS = (("phi", "varphi"), ("theta", "vartheta"), ("rho", "varrho"), ("sigma", "varsigma"))


class TargetError(FormulaError):
    """The target of a pair cannot be read; the message is the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """An answer and its target as read under one notation, and the assumptions made.

    `doubtful` says whether another reading is possible, with factors before brackets.
    """

    answer: Reading
    target: Reading
    assumptions: tuple[str, ...]
    doubtful: bool = False


def read_pair(answer: str, target: str, *, factors: bool = False) -> Pair:
    """Return the readings of an answer and its target.

    Args:
        answer: LaTeX of the answer.
        target: LaTeX of the target.
        factors: whether doubtful letters before a bracket are factors of it, as in k(x).

    Raises:
        TargetError: the target cannot be read.
        FormulaError: the answer cannot be read.
    """
    try:
        check_text(target)
        answer, target = with_shared_subscripts(answer, target)
        their_tokens = tokens_of(target)
    except FormulaError as error:
        raise TargetError(str(error)) from error
    try:
        our_tokens = tokens_of(answer)
    except FormulaError:
        _read_target(their_tokens, Notation.of(their_tokens))
        raise
    notation = Notation.of(our_tokens, their_tokens)
    if factors:
        notation = replace(notation, argued=notation.argued - notation.doubtful)
    theirs = _read_target(their_tokens, notation)
    ours = read(our_tokens, notation)
    if _has_unit(theirs) and not _has_unit(ours):
        ours = read(our_tokens, notation, plain_units=True)
    elif _has_unit(ours) and not _has_unit(theirs):
        theirs = read(their_tokens, notation, plain_units=True)
    ours = _with_letters_of(ours, theirs)
    return Pair(
        answer=ours,
        target=theirs,
        assumptions=_assumptions(notation),
        doubtful=bool(notation.doubtful),
    )


def read_one(text: str) -> Reading:
    """Return the reading of a text alone; FormulaError if it cannot be read."""
    tokens = tokens_of(text)
    return read(tokens, Notation.of(tokens))


def _read_target(tokens: Tokens, notation: Notation) -> Reading:
    try:
        return read(tokens, notation)
    except MemoryError:
        raise
    except Exception as error:
        raise TargetError(reason_of(error)) from error


def _assumptions(notation: Notation) -> tuple[str, ...]:
    first = (SIGNED,) if notation.signed else ASSUMPTIONS[:1]
    return (*first, *ASSUMPTIONS[1:], *((IMAGINARY,) if notation.imaginary else ()))


def _has_unit(reading: Reading) -> bool:
    return any(item.unit is not None for item in expressions_in(reading.answer))


def with_shared_subscripts(answer: str, target: str) -> tuple[str, str]:
    r"""Return both texts, each with the subscript braces of the other: ``v_esc``, ``v_{esc}``.

    Alone, ``v_esc`` is v_e s c, as LaTeX sets it, just as ``k_BT`` is k_B T. Subscripts of the
    answer apply to the target from three letters on: ``m_{ec}^2`` in an answer must not change the
    meaning of ``m_ec^2`` in the target.
    """
    return _with_subscripts_of(answer, target, 2), _with_subscripts_of(target, answer, 3)


def _with_subscripts_of(text: str, other: str, at_least: int) -> str:
    for letter, subscript in dict.fromkeys(_BRACED_SUBSCRIPT.findall(other)):
        if len(subscript) < at_least:
            continue
        bare = rf"{re.escape(letter)}_{subscript}(?![A-Za-z])"
        text = re.sub(bare, lambda found: found[0].replace("_", "_{", 1) + "}", text)
    return text


def _with_letters_of(answer: Reading, target: Reading) -> Reading:
    r"""Return the answer with the target's variant of each letter.

    ``\varphi`` becomes ``\phi`` where the answer has only the one and the target only the other; a
    vector r becomes r times its unit vector where the target has that.
    """
    ours, theirs = symbols_in(answer.answer), symbols_in(target.answer)
    changes: dict[sympy.Basic, sympy.Basic] = {}
    names, their_names = {item.name for item in ours}, {item.name for item in theirs}
    for pair in _VARIANTS:
        for used, other in (pair, pair[::-1]):
            ambiguous = _using(names, other) or _using(their_names, used)
            if _using(their_names, other) and not ambiguous:
                changes |= {
                    item: renamed(item, other + item.name.removeprefix(used))
                    for item in ours
                    if item.name in _using(names, used)
                }
    for item in ours:
        letter = item.name.removeprefix("vec{").removesuffix("}")
        if item.name == f"vec{{{letter}}}" and f"hat{{{letter}}}" in their_names - names:
            changes[item] = renamed(item, letter) * renamed(item, f"hat{{{letter}}}")
    for item in answer.answer.form.atoms(sympy.core.function.AppliedUndef):
        primed = _primed(item)
        if primed in their_names:
            changes[item] = renamed(item.args[0], primed)
    changes |= _conjugates(answer.answer.form, target.answer.form)
    return replace(answer, answer=replaced(answer.answer, changes)) if changes else answer


def _conjugates(ours: sympy.Basic, theirs: sympy.Basic) -> dict[sympy.Basic, sympy.Basic]:
    r"""Return the changes that write ``\bar z`` or ``z^*`` of an answer as the target does."""
    stars = {
        item.args[0].name: item for item in theirs.atoms(sympy.conjugate) if item.args[0].is_Symbol
    }
    changes: dict[sympy.Basic, sympy.Basic] = {
        item: stars[item.name[4:-1]]
        for item in ours.atoms(sympy.Symbol)
        if item.name.startswith("bar{") and item.name[4:-1] in stars
    }
    bars = {item.name: item for item in theirs.atoms(sympy.Symbol) if item.name.startswith("bar{")}
    for item in ours.atoms(sympy.conjugate):
        if item.args[0].is_Symbol and f"bar{{{item.args[0].name}}}" in bars:
            changes[item] = bars[f"bar{{{item.args[0].name}}}"]
    return changes


def _primed(item: sympy.Expr) -> str:
    """Return the name with primes of a derivative such as d^2 y/d x^2; "" for another function."""
    order = type(item).__name__.removeprefix("derivative")
    if order == type(item).__name__ or not item.args[0].is_Symbol:
        return ""
    return f"{item.args[0].name}{chr(39) * int(order or 1)}" if order in ("", "2", "3") else ""


def _using(names: set[str], letter: str) -> set[str]:
    """Return the names that are the letter, also with a subscript or prime."""
    return {
        name for name in names if name == letter or name.startswith((f"{letter}_", f"{letter}'"))
    }

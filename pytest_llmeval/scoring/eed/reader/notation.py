"""What the notation of two formulas means, decided by both before either is read.

The same letter is the imaginary unit in one problem and an angle in another, and ``f(x)`` is a
product or a function of x. Reading both sides under one decision keeps them comparable.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytest_llmeval.scoring.eed.reader.commands import VECTOR_FONTS
from pytest_llmeval.scoring.eed.reader.cursor import written
from pytest_llmeval.scoring.eed.reader.indices import has_indices
from pytest_llmeval.scoring.eed.reader.places import behind_scripts, group_end, is_name, token_at
from pytest_llmeval.scoring.eed.reader.splitting import compares, split
from pytest_llmeval.scoring.eed.reader.token import Token, Tokens


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_COORDINATES = _words("r t x y z s theta phi varphi xi tau T")
_FUNCTION_LETTERS = _words("f g F G psi phi varphi Psi Phi chi")
_UNIT_VECTORS = _words("i j k r n x y z e s theta phi varphi rho u")
_ANGLE_FUNCTIONS = ("sin", "cos", "tan", "cot")
_KETS = ("rangle", "langle", "ket", "bra", "braket")
_MOST_ARGUMENT_TOKENS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Notation:
    """The meaning of ambiguous notation in a pair of formulas.

    Attributes:
        imaginary: i is the imaginary unit.
        signed: symbols may be negative: absolute values, signs or cases ask for it.
        bold_vectors: bold letters are vectors; else a font without a meaning.
        tensors: raised Greek letters are indices.
        applied: letters that are functions of the bracket behind them.
        argued: letters whose bracket only says what they depend on, as in V(r).
        doubtful: those of them that may as well be a factor before the bracket.
        operators: letters of operators, whose order counts.
        conjugated: letters of complex quantities, as those with a conjugate somewhere.
    """

    imaginary: bool = False
    signed: bool = False
    bold_vectors: bool = False
    tensors: bool = False
    applied: frozenset[str] = frozenset()
    argued: frozenset[str] = frozenset()
    doubtful: frozenset[str] = frozenset()
    operators: frozenset[str] = frozenset()
    conjugated: frozenset[str] = frozenset()

    @classmethod
    def of(cls, *formulas: Tokens) -> Notation:
        """Return the notation of formulas that are to be compared."""
        applied, argued, doubtful = _functions(formulas)
        return cls(
            imaginary=_imaginary(formulas),
            signed=any(_signed(formula) for formula in formulas),
            bold_vectors=_bold_vectors(formulas),
            tensors=any(has_indices(formula) for formula in formulas),
            applied=applied,
            argued=argued,
            doubtful=doubtful,
            operators=_operators(formulas),
            conjugated=_complex(formulas),
        )


PLAIN = Notation()
"""Positive symbols, and no letter with a special meaning."""


# ------------------------------------------------------------------ letters with two meanings


def _imaginary(formulas: Sequence[Tokens]) -> bool:
    """Return whether i is the imaginary unit: not if it is an angle, an index or a current."""
    found = squared = False
    others = any(is_name(token) and token.text != "i" for f in formulas for token in f)
    for tokens in formulas:
        for place, token in enumerate(tokens):
            before = token_at(tokens, place - 1)
            opening = before.is_mark("{", "(")
            if token != Token("letter", "i") or token_at(tokens, place + 1).is_mark("_", "'", "="):
                continue
            if before.is_command("hat", "vec", *VECTOR_FONTS) or before.is_mark("_"):
                continue
            if opening and token_at(tokens, place - 2).is_mark("_"):
                continue  # an index, alone or before others
            if opening and token_at(tokens, place - 2).is_command("hat", "vec", *VECTOR_FONTS):
                continue
            if before.is_command(*_ANGLE_FUNCTIONS) or (
                opening and token_at(tokens, place - 2).is_command(*_ANGLE_FUNCTIONS)
            ):
                return False
            found = True
            squared = squared or token_at(tokens, place + 1).is_mark("^")
    return found and not (squared and others)


def _signed(tokens: Tokens) -> bool:
    """Return whether a formula distinguishes negative values.

    Bounds on an absolute value do, and cases and signs; a magnitude alone does not.
    """
    if any(token.is_command(*_KETS) for token in tokens):
        return False
    if any(token.is_mark("|") for token in tokens) and split(tokens, compares)[1]:
        return True
    return "sgn" in written(tokens) or any(
        token.is_command("begin") and written(tokens[place + 1 : place + 8]).startswith("cases")
        for place, token in enumerate(tokens)
    )


def _bold_vectors(formulas: Sequence[Tokens]) -> bool:
    arrows = any(token.is_command("vec", "overrightarrow") for f in formulas for token in f)
    fonts = VECTOR_FONTS - {"vec", "overrightarrow"}
    bold = [any(token.is_command(*fonts) for token in tokens) for tokens in formulas]
    products = any(token.is_command("times", "nabla") for f in formulas for token in f)
    return any(bold) and (arrows or products or all(bold))


def _complex(formulas: Sequence[Tokens]) -> frozenset[str]:
    """Return the letters of complex quantities: starred ones, and z and w beside i and bars."""
    starred = {name for formula in formulas for name in _conjugated(formula)}
    bars = any(token.is_mark("|") for formula in formulas for token in formula)
    return frozenset(starred | ({"z", "w"} if bars and _imaginary(formulas) else set()))


def _conjugated(tokens: Tokens) -> Iterator[str]:
    """Yield the names with a star as exponent."""
    for place, token in enumerate(tokens):
        if is_name(token):
            behind = behind_scripts(tokens, place + 1)
            raised = tokens[behind + 1 : group_end(tokens, behind + 1)]
            if token_at(tokens, behind).is_mark("^") and written(raised) in ("*", "star", "ast"):
                yield token.text


# ------------------------------------------------------------------ functions


def _functions(
    formulas: Sequence[Tokens],
) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Return the letters applied to brackets, those with only their variable in it, the doubtful.

    A letter is doubtful if it and its variable also stand without a bracket.
    """
    arguments: dict[str, set[str]] = {}
    bare: set[str] = set()
    for tokens in formulas:
        for place, token in enumerate(tokens):
            if not is_name(token) or _in_script(tokens, place):
                continue
            behind = behind_scripts(tokens, place + 1)
            if token_at(tokens, behind).is_mark("("):
                inside = tokens[behind + 1 : group_end(tokens, behind) - 1]
                arguments.setdefault(token.text, set()).add(_argument(inside))
            else:
                bare.add(token.text)
    applied, argued = set(), set()
    # Under an integral or sum, what a function depends on decides its value.
    bound = any(token.is_command("int", "sum", "oint", "lim") for f in formulas for token in f)
    for name, found in arguments.items():
        if "" in found:
            continue  # a product
        if len(found) == 1 and found <= _COORDINATES and (name in bare or not bound):
            argued.add(name)
        elif (name in _FUNCTION_LETTERS and name not in bare) or (
            found & _COORDINATES and name not in bare
        ):
            applied.add(name)
    doubtful = {name for name in argued & bare if arguments[name] & bare}
    return frozenset(applied), frozenset(argued), frozenset(doubtful)


def _in_script(tokens: Tokens, place: int) -> bool:
    return token_at(tokens, place - 1).is_mark("_")


def _argument(inside: Tokens) -> str:
    """Return the text of what looks like the argument of a function; "" for a factor."""
    if not inside or len(inside) > _MOST_ARGUMENT_TOKENS:
        return ""
    nested = inside[0].text in _FUNCTION_LETTERS
    simple = all(
        is_name(token)
        or token.kind == "number"
        or token.is_mark("+", "-", ",", "'", "_", "{", "}")
        or (token.is_mark("(", ")") and nested)
        or token.is_command(*VECTOR_FONTS)
        for token in inside
    )
    one_and_more = inside[0] == Token("number", "1") and len(inside) > 1
    return written(inside) if simple and not one_and_more else ""


# ------------------------------------------------------------------ tensors and operators


def _operators(formulas: Sequence[Tokens]) -> frozenset[str]:
    """Return the letters of operators: hatted or daggered ones, unless all are unit vectors."""
    hatted: set[str] = set()
    daggered: set[str] = set()
    for tokens in formulas:
        for place, token in enumerate(tokens):
            if token.is_command("hat", "widehat"):
                inside = [
                    item
                    for item in tokens[place + 1 : group_end(tokens, place + 1)]
                    if is_name(item)
                ]
                hatted.update(item.text for item in inside[:1])
            elif token.is_command("dagger"):
                daggered.update(_base_before(tokens, place))
    if not daggered and hatted <= _UNIT_VECTORS:
        hatted = set()
    return frozenset(hatted | daggered | _matrices(formulas))


def _matrices(formulas: Sequence[Tokens]) -> set[str]:
    """Return the capital letters of formulas of nothing else that invert one of them."""
    names = {token.text for f in formulas for token in f if is_name(token)} - {"T"}
    inverted = all("-1" in written(formula) for formula in formulas)
    capitals = all(len(name) == 1 and name.isupper() for name in names)
    return names if inverted and capitals and len(names) > 1 else set()


def _base_before(tokens: Tokens, place: int) -> Iterator[str]:
    """Yield the letter that a dagger belongs to."""
    back = place - 1
    while back >= 0 and not is_name(tokens[back]):
        if not tokens[back].is_mark("^", "{", "}", "_") and tokens[back].kind != "number":
            return
        back -= 1
    if back >= 0:
        yield tokens[back].text

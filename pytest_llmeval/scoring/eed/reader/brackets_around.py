"""Brackets around a whole side: sets, tuples, lists, transposed and multiplied ones."""

from __future__ import annotations

import sympy

from pytest_llmeval.scoring.eed.reader.answer import Answer, Collection, CollectionKind, Expression
from pytest_llmeval.scoring.eed.reader.commands import FONTS
from pytest_llmeval.scoring.eed.reader.cursor import written
from pytest_llmeval.scoring.eed.reader.splitting import relates, split
from pytest_llmeval.scoring.eed.reader.token import Tokens

_BRACKETS: dict[tuple[str, str], CollectionKind] = {
    ("\\{", "\\}"): "set",
    ("(", ")"): "tuple",
    ("{", "}"): "tuple",
    ("[", "]"): "list",
}


def distributed(expression: Expression) -> Answer:
    """Return a multiple of a tuple as the tuple of multiples; another value as it is."""
    factors = sympy.Mul.make_args(expression.value)
    tuples = [factor for factor in factors if type(factor).__name__ == "Tuple"]
    if len(tuples) != 1 or len(factors) == 1:
        return expression
    scale = expression.value / tuples[0]
    members = tuple(Expression(value=scale * entry) for entry in tuples[0].args)
    return Collection(kind="tuple", members=members)


def list_members(tokens: Tokens) -> tuple[CollectionKind, list[Tokens]] | None:
    """Return kind and members of a set, tuple or list; None if the tokens are none of them."""
    if tokens and tokens[0].is_command("mean"):
        tokens = tokens[1:]
    if len(tokens) < 2 or not closes_at_end(tokens):  # noqa: PLR2004 - both brackets
        return None
    kind = _BRACKETS.get((tokens[0].text, tokens[-1].text))
    if kind is None or tokens[0].kind != "mark":
        return None
    members, commas = split(tokens[1:-1], lambda token: token.is_mark(",", ";"))
    if not commas and kind != "set":
        return None
    return (kind, members) if all(members) else None


def transposed(tokens: Tokens) -> list[Tokens] | None:
    """Return the entries of ``(a, b)^T``; None for other tokens."""
    place = next((k for k, token in enumerate(tokens) if token.is_mark("^")), 0)
    if written(tokens[place + 1 :]) not in ("T", "top") or not place:
        return None
    listed = list_members(tokens[:place])
    return None if listed is None or listed[0] == "set" else listed[1]


def closes_at_end(tokens: Tokens) -> bool:
    """Return whether the bracket that opens the tokens closes with the last one."""
    depth = 0
    for position, token in enumerate(tokens):
        depth += token.nesting
        if depth == 0:
            return position == len(tokens) - 1
    return False


def unwrapped(tokens: Tokens) -> Tokens:
    """Return the tokens without a bracket around all of them, if there is a relation inside."""
    pairs = {"(": ")", "{": "}", "[": "]"}
    if len(tokens) > 1 and tokens[0].is_command(*FONTS) and closes_at_end(tokens[1:]):
        inside = unwrapped(tokens[1:])
        if len(inside) < len(tokens) - 1:
            return inside
    while (
        len(tokens) > 2  # noqa: PLR2004 - something between the brackets
        and tokens[0].kind == "mark"
        and pairs.get(tokens[0].text) == tokens[-1].text
        and closes_at_end(tokens)
        and any(map(relates, tokens[1:-1]))
        and not split(tokens[1:-1], lambda token: token.is_mark(",", ";"))[1]
    ):
        tokens = tokens[1:-1]
    return tokens

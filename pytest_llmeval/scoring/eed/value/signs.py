"""Plus-minus signs as the two values that they stand for."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import sympy

from pytest_llmeval.scoring.eed.reader.answer import (
    Answer,
    Assignment,
    Collection,
    Expression,
    replaced,
)
from pytest_llmeval.scoring.eed.reader.reader import PLUS_MINUS


def with_both_signs(answer: Answer) -> Answer:
    """Return an answer in which a plus-minus sign has become two answers, joined by "or"."""
    match answer:
        case Expression(value=value) if value.has(PLUS_MINUS):
            values = tuple(
                dataclasses.replace(answer, value=value.subs(PLUS_MINUS, sign)) for sign in (1, -1)
            )
            return Collection(kind="several", members=values, alternatives=True)
        case Assignment(value=Expression() | Collection() as value):
            resolved = with_both_signs(value)
            return answer if resolved is value else resolved
        case Collection(kind="set" | "several") if any(map(_has_sign, answer.members)):
            members = tuple(value for member in answer.members for value in _values(member))
            several = answer.kind == "several"
            return dataclasses.replace(answer, members=members, alternatives=several)
        case Collection(kind="tuple" | "list") if any(map(_has_sign, answer.members)):
            both = tuple(replaced(answer, {PLUS_MINUS: sympy.Integer(sign)}) for sign in (1, -1))
            return Collection(kind="several", members=both, alternatives=True)
    return answer


def _values(member: Answer) -> Iterator[Answer]:
    resolved = with_both_signs(member) if _has_sign(member) else member
    if isinstance(resolved, Collection) and _has_sign(member):
        yield from resolved.members
    else:
        yield resolved


def _has_sign(answer: Answer) -> bool:
    if isinstance(answer, Assignment):
        return _has_sign(answer.value)
    return isinstance(answer, Expression) and bool(answer.value.has(PLUS_MINUS))

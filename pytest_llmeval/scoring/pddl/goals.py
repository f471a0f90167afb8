"""The goals of PDDL, and their text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias


class _Written:
    """Base of all goals: `str` returns the PDDL text."""

    __slots__ = ()

    def __str__(self) -> str:
        match self:
            case Fact():
                return _bracketed(self.predicate, *self.symbols)
            case Variable():
                return f"?{self.name}"
            case Constant():
                return str(self.value)
            case Not():
                return _bracketed("not", self.goal)
            case And():
                return _bracketed("and", *self.goals)
            case Or():
                return _bracketed("or", *self.goals)
        message = f"not a goal: {type(self).__name__}"
        raise TypeError(message)


@dataclass(frozen=True, slots=True)
class Fact(_Written):
    """A predicate of symbols, such as ``(object-in-place O1 P2)``."""

    predicate: str
    symbols: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Variable(_Written):
    """A goal that a name stands for, such as ``?fed``; the name is without the question mark."""

    name: str


@dataclass(frozen=True, slots=True)
class Constant(_Written):
    """``True``, which every state of the world fulfils, or ``False``, which none does."""

    value: bool


@dataclass(frozen=True, slots=True)
class Not(_Written):
    """A goal that is fulfilled where another one is not."""

    goal: Goal


@dataclass(frozen=True, slots=True)
class And(_Written):
    """A goal that is fulfilled where all its parts are; without parts it is ``True``."""

    goals: tuple[Goal, ...]


@dataclass(frozen=True, slots=True)
class Or(_Written):
    """A goal that is fulfilled where one of its parts is; without parts it is ``False``."""

    goals: tuple[Goal, ...]


Atom: TypeAlias = Fact | Variable
Goal: TypeAlias = Fact | Variable | Constant | Not | And | Or


def atoms(goal: Goal) -> Iterator[Atom]:
    """Yield the facts and variables of a goal as often as they occur, from left to right."""
    match goal:
        case Fact() | Variable():
            yield goal
        case Not():
            yield from atoms(goal.goal)
        case And() | Or():
            for part in goal.goals:
                yield from atoms(part)


def _bracketed(*parts: object) -> str:
    return f"({' '.join(map(str, parts))})"

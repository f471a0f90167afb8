"""The parser of goals in PDDL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_llmeval.scoring.lark_parser import Nesting, lark_parser
from pytest_llmeval.scoring.pddl.goals import And, Constant, Fact, Goal, Not, Or, Variable
from pytest_llmeval.scoring.pddl.syntax_error import PDDL_ERRORS

if TYPE_CHECKING:
    from lark import Token

DEEPEST = 100
"""Most brackets that may be open at once."""

LONGEST_GOAL = 100_000
"""Characters of an answer that is parsed; a goal of 300 facts takes some 8,000."""


def parse_pddl(text: str) -> Goal:
    """Return the goal of a PDDL text, in time and memory linear in its length.

    Raises:
        PddlSyntaxError: the text is no goal; a ValueError with line and column.

    Example:
        >>> str(parse_pddl("(AND (visited-room R1)(not (in-room R2)))"))
        '(and (visited-room R1) (not (in-room R2)))'
    """
    return _parser()(text)


@cache
def _parser() -> Callable[[str], Goal]:
    """Return the parsing function, with the compiled grammar."""
    return lark_parser(
        Path(__file__).with_name("grammar.lark").read_text(encoding="utf-8"),
        builder=_Builder(),
        nesting=Nesting(opening={"LPAR"}, closing={"RPAR"}, deepest=DEEPEST, brackets="brackets"),
        errors=PDDL_ERRORS,
    )


class _Builder:
    """Builds the goals; each method handles the grammar rule of its name."""

    def fact(self, children: Sequence[Token]) -> Fact:
        predicate, *symbols = map(str, children)
        return Fact(predicate, tuple(symbols))

    def variable(self, children: Sequence[Token]) -> Variable:
        return Variable(children[0].removeprefix("?"))

    def true(self, _: Sequence[Token]) -> Constant:
        return Constant(value=True)

    def false(self, _: Sequence[Token]) -> Constant:
        return Constant(value=False)

    def negation(self, children: tuple[Token, Goal]) -> Not:
        return Not(children[1])

    def conjunction(self, children: Sequence[Goal]) -> And:
        return And(tuple(children[1:]))

    def disjunction(self, children: Sequence[Goal]) -> Or:
        return Or(tuple(children[1:]))

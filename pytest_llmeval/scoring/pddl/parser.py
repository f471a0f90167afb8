"""The parser of goals in PDDL."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, cast

from pytest_llmeval.scoring.pddl.goals import And, Constant, Fact, Goal, Not, Or, Variable
from pytest_llmeval.scoring.pddl.syntax_error import grammar_error, rule_error

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


class _TooDeepError(Exception):
    """A bracket too many; becomes a PddlSyntaxError."""

    def __init__(self, position: int) -> None:
        super().__init__(position)
        self.position = position


@cache
def _parser() -> Callable[[str], Goal]:
    """Return the parsing function, with the compiled grammar."""
    from lark import Lark, UnexpectedInput  # noqa: PLC0415 - 60 ms, for sessions that parse goals

    lark = Lark(
        Path(__file__).with_name("grammar.lark").read_text(encoding="utf-8"),
        parser="lalr",
        transformer=_Builder(),
        postlex=_DepthGuard(),
    )

    def parse(text: str) -> Goal:
        try:
            return cast("Goal", lark.parse(text))
        except UnexpectedInput as error:
            raise grammar_error(text, error) from None
        except _TooDeepError as error:
            expected = f"at most {DEEPEST} brackets inside each other"
            raise rule_error(text, error.position, expected) from None

    return parse


class _DepthGuard:
    """Rejects goals nested deeper than DEEPEST, before they are built."""

    always_accept = ()

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        depth = 0
        for token in stream:
            depth += {"LPAR": 1, "RPAR": -1}.get(token.type, 0)
            if depth > DEEPEST:
                raise _TooDeepError(token.start_pos or 0)
            yield token


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

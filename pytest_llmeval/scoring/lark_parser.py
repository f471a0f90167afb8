"""Parsers of answers in a language of their own, made by lark from a grammar."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_llmeval.scoring.syntax_error import SyntaxErrors

if TYPE_CHECKING:
    from lark import Token


@dataclass(frozen=True, slots=True, kw_only=True)
class Nesting:
    """The limit of brackets inside each other.

    Attributes:
        opening: the terminals of the grammar that open a bracket.
        closing: those that close one.
        deepest: most brackets that may be open at once.
        brackets: what the language calls them in a message, such as ``containers``.
    """

    opening: Collection[str]
    closing: Collection[str]
    deepest: int
    brackets: str


class RuleError(Exception):
    """A token that the grammar allows and a further rule does not.

    A builder raises it; the parser makes a syntax error of it.
    """

    def __init__(self, token: Token, expected: str) -> None:
        """Create the error; `expected` is the rule in words."""
        super().__init__(expected)
        self.token, self.expected = token, expected


def lark_parser(
    grammar: str, *, builder: object, nesting: Nesting, errors: SyntaxErrors
) -> Callable[[str], Any]:
    """Compile a grammar (some ms) and return the parsing function.

    It returns what the builder makes of the rule ``start``, and raises the syntax error of
    `errors` for a text that is not valid.

    Args:
        grammar: the grammar in lark's notation, LALR(1).
        builder: has a method for each rule of the grammar, by the rule's name; its argument is the
            list of the rule's tokens and of what was built of the rules inside.
        nesting: the limit of brackets inside each other.
        errors: the syntax errors of the language.
    """
    from lark import Lark, UnexpectedInput  # noqa: PLC0415 - 60 ms, for sessions that parse

    lark = Lark(grammar, parser="lalr", transformer=builder, postlex=_NestingGuard(nesting))

    def parse(text: str) -> Any:  # noqa: ANN401 - the builder knows
        try:
            return lark.parse(text)
        except UnexpectedInput as error:
            raise errors.of_grammar(text, error) from None
        except RuleError as error:
            raise errors.of_rule(text, error.token.start_pos or 0, error.expected) from None

    return parse


class _NestingGuard:
    """Rejects brackets nested too deeply, before values are built from them."""

    always_accept = ()

    def __init__(self, nesting: Nesting) -> None:
        self.nesting = nesting

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        """Yield the tokens; raise RuleError at the bracket that is one too many."""
        limit, depth = self.nesting, 0
        for token in stream:
            if token.type in limit.opening:
                depth += 1
                if depth > limit.deepest:
                    expected = f"at most {limit.deepest} {limit.brackets} inside each other"
                    raise RuleError(token, expected)
            elif token.type in limit.closing:
                depth -= 1
            yield token

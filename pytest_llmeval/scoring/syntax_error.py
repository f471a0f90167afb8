"""Syntax errors of answers in a language of their own: position, what was found and expected."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from lark.exceptions import UnexpectedInput

_LONGEST = 40
"""Characters of the offending text that a message repeats."""

_AROUND = 80
"""Characters before and after the error that the patterns of hints see."""

Hints = Sequence[tuple[re.Pattern[str], str]]
"""Patterns of usual mistakes, each with how to correct it; ``@`` marks the error's position."""

_WRAPPED: Hints = (
    (re.compile(r"```"), "take off the code fence"),
    (re.compile(r"</?answer>", re.IGNORECASE), "take off the <answer> tags"),
)


class AnswerSyntaxError(ValueError):
    """A text that is not valid in the language of its answer.

    Attributes:
        line, column: position of the error, from 1.
        found: the text at that position, quoted, or ``the end``.
        expected: what the grammar allows there, in words.
        hint: how to correct the usual mistake of this form; may be empty.
    """

    def __init__(
        self, *, line: int, column: int, found: str, expected: str, hint: str = ""
    ) -> None:
        """Create the error; its message is composed of the arguments."""
        self.line, self.column = line, column
        self.found, self.expected, self.hint = found, expected, hint
        message = f"line {line}, column {column}: found {found}, expected {expected}"
        super().__init__(f"{message} ({hint})" if hint else message)

    @classmethod
    def at(
        cls, text: str, position: int, *, expected: str, chunk: re.Pattern[str], hints: Hints = ()
    ) -> Self:
        """Return the error at a position of a text, counted from 0.

        Args:
            text: the whole text.
            position: where it stops being valid.
            expected: what should stand there, in words.
            chunk: matches the words of the language, for `found`.
            hints: the first pattern that matches gives the hint.
        """
        line_start = text.rfind("\n", 0, position) + 1
        return cls(
            line=text.count("\n", 0, position) + 1,
            column=position - line_start + 1,
            found=_found(text, position, chunk),
            expected=expected,
            hint=_hint(text, position, hints) if hints else "",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SyntaxErrors:
    """The syntax errors of one language.

    Attributes:
        kind: their class.
        expected: returns the terminals that the grammar allows at an error, in words.
        chunk: matches the words of the language, for `found`.
        hints: the first pattern that matches gives the hint.
    """

    kind: type[AnswerSyntaxError]
    expected: Callable[[Collection[str]], str]
    chunk: re.Pattern[str]
    hints: Hints

    def of_grammar(self, text: str, error: UnexpectedInput) -> AnswerSyntaxError:
        """Return the syntax error for an error of the parser."""
        token = getattr(error, "token", None)
        at_end = token is not None and token.type == "$END"
        position = len(text) if at_end else error.pos_in_stream or 0
        allowed = error.interactive_parser.accepts()  # type: ignore[no-untyped-call] # lark's
        return self.kind.at(
            text, position, expected=self.expected(allowed), chunk=self.chunk, hints=self.hints
        )

    def of_rule(self, text: str, position: int, expected: str) -> AnswerSyntaxError:
        """Return the syntax error for a text that the grammar allows and a further rule does not.

        Args:
            text: the whole text.
            position: where it breaks the rule, from 0.
            expected: the rule, in words.
        """
        return self.kind.at(text, position, expected=expected, chunk=self.chunk)


def _found(text: str, position: int, chunk: re.Pattern[str]) -> str:
    word = chunk.match(text, position)
    if word is None:
        return "the end"
    shown = word.group()
    return repr(shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…")


def _hint(text: str, position: int, hints: Hints) -> str:
    around = f"{text[max(0, position - _AROUND) : position]}@{text[position : position + _AROUND]}"
    wrapped = (hint for pattern, hint in _WRAPPED if pattern.search(text))
    return next(wrapped, None) or next(
        (hint for pattern, hint in hints if pattern.search(around)), ""
    )

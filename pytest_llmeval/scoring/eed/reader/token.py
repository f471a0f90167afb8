"""One token of a LaTeX formula."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

_OPENING = frozenset({"(", "{", "[", "\\{"})
_CLOSING = frozenset({")", "}", "]", "\\}"})

TokenKind: TypeAlias = Literal["command", "number", "letter", "mark", "text"]


@dataclass(frozen=True, slots=True)
class Token:
    r"""One token of a formula.

    Attributes:
        kind: ``text`` is the content of a ``\text{}``, ``mark`` any other single character; the
            braces that are printed are the marks ``\{`` and ``\}``.
        text: the characters; of a command without its backslash.
        spaced: whether a spacing command such as ``\,`` stands before it.
    """

    kind: TokenKind
    text: str
    spaced: bool = field(default=False, compare=False)

    @property
    def nesting(self) -> int:
        """1 for what opens a bracket or environment, -1 for what closes one, else 0."""
        if self.kind == "mark":
            return (self.text in _OPENING) - (self.text in _CLOSING)
        return self.is_command("begin") - self.is_command("end")

    def is_mark(self, *marks: str) -> bool:
        """Return whether this is one of these marks."""
        return self.kind == "mark" and self.text in marks

    def is_command(self, *names: str) -> bool:
        """Return whether this is one of these commands."""
        return self.kind == "command" and self.text in names


Tokens: TypeAlias = Sequence[Token]

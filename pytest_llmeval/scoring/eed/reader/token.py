"""One token of a LaTeX formula."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

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

    def is_mark(self, *marks: str) -> bool:
        """Return whether this is one of these marks."""
        return self.kind == "mark" and self.text in marks

    def is_command(self, *names: str) -> bool:
        """Return whether this is one of these commands."""
        return self.kind == "command" and self.text in names

"""The tokens of a LaTeX formula, without layout and with one spelling for each meaning."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal, TypeAlias

from pytest_llmeval.scoring.eed.reader import commands
from pytest_llmeval.scoring.eed.reader.guards import FormulaError, check_text

TokenKind: TypeAlias = Literal["command", "number", "letter", "mark", "text"]


@dataclass(frozen=True, slots=True)
class Token:
    r"""One token of a formula.

    Attributes:
        kind: ``text`` is the content of a ``\text{}``, ``mark`` any other single character.
        text: the characters; of a command without its backslash.
    """

    kind: TokenKind
    text: str

    def is_mark(self, *marks: str) -> bool:
        """Return whether this is one of these marks."""
        return self.kind == "mark" and self.text in marks

    def is_command(self, *names: str) -> bool:
        """Return whether this is one of these commands."""
        return self.kind == "command" and self.text in names


_ENVIRONMENT = re.compile(
    r"\\(?:begin|end)\s*\{(?:equation|align|aligned|alignat|gather|gathered|multline|split|math"
    r"|displaymath|eqnarray)\*?\}"
)
_DELIMITERS = re.compile(r"\$|\\[()\[\]]")
_THOUSANDS = re.compile(r"(?<![\d.,(])(\d{1,3})((?:(?:\{,\}|\\[,!]|,)\d{3})+)(?![\d,])")
_UPRIGHT_D = re.compile(r"\\(?:mathrm|rm|text|operatorname)\s*\{\s*d\s*\}|\{\s*\\rm\s+d\s*\}")
_BOX = re.compile(r"\\f?boxed?\s*\{")
_TOKEN = re.compile(
    r"\\(?P<command>[A-Za-z]+)\*?|\\(?P<escape>.)"
    r"|(?P<number>\d+\.\d+[eE][+-]?\d{1,3}|\d+(?:\.\d+)?|\.\d+)"
    r"|(?P<letter>[^\W\d_])|(?P<mark>\S)",
    re.DOTALL,
)
_PLAIN_FUNCTION = re.compile(
    rf"(?<![\\A-Za-z])({'|'.join(commands.PLAIN_FUNCTIONS)})(?=[\s(\d\\{{\[]|$)"
)
_PLAIN_PI = re.compile(r"(?<![\\A-Za-z])pi(?![A-Za-z])")
_PROSE = re.compile(r"(?<![\\A-Za-z{_])[A-Za-z]{3,}(?:\s+[A-Za-z]{2,}){2,}")
_RELATIONS = (
    commands.EQUALS | commands.APPROXIMATELY | commands.INEQUALITIES.keys() | {"cdot", "times"}
)
_TEXT_COMMAND = re.compile(r"\\[A-Za-z]+\s*\{[^{}]*\}")
_SPACES = frozenset(",;:!> /")


def tokens_of(formula: str) -> list[Token]:
    """Return the tokens of a formula; FormulaError if it is prose or exceeds a limit."""
    check_text(formula)
    text = commands.to_latex(formula)
    while (inside := _unboxed(text)) != text:
        text = inside
    if _PROSE.search(_TEXT_COMMAND.sub("", text)):
        msg = "prose, not a formula"
        raise FormulaError(msg)
    text = _UPRIGHT_D.sub("d", text)
    text = _DELIMITERS.sub(" ", _ENVIRONMENT.sub(" ", text))
    text = _THOUSANDS.sub(lambda match: match[1] + re.sub(r"\D", "", match[2]), text)
    text = _PLAIN_PI.sub(r"\\pi ", _PLAIN_FUNCTION.sub(r"\\\1 ", text))
    return _without_line_breaks(_trim(_scan(text)))


def latex_of(tokens: Sequence[Token]) -> str:
    """Return tokens as LaTeX."""
    written = {"command": "\\{} ", "text": "\\text{{{}}}"}
    return "".join(written.get(token.kind, "{}").format(token.text) for token in tokens).strip()


def _unboxed(text: str) -> str:
    r"""Return the content of the first ``\boxed{}``; the text itself if there is none."""
    box = _BOX.search(text)
    if box is None:
        return text
    end = closing_brace(text, box.end())
    return text if end is None else text[box.end() : end]


def closing_brace(text: str, start: int) -> int | None:
    """Return the position of the brace that closes the one before `start`; None if none does."""
    depth = 1
    for match in re.compile(r"\\.|[{}]", re.DOTALL).finditer(text, start):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if depth == 0:
            return match.start()
    return None


def _scan(text: str) -> list[Token]:
    tokens: list[Token] = []
    position = 0
    while match := _TOKEN.search(text, position):
        position = match.end()
        if match["command"] is not None:
            position = _command(match["command"], text, position, tokens)
        elif match["escape"] is not None:
            tokens.extend(_escaped(match["escape"]))
        elif match["number"] is not None:
            tokens.append(Token("number", match["number"]))
        elif match["letter"] is not None:
            tokens.append(Token("letter", match["letter"]))
        elif match["mark"] != "~":
            tokens.append(Token("mark", match["mark"]))
    return tokens


def _command(name: str, text: str, position: int, tokens: list[Token]) -> int:
    """Append the token of a command, if it has one, and return the position behind it."""
    name = commands.SAME_LETTER.get(name, name)
    opening = re.compile(r"\s*\{").match(text, position)
    if name in commands.IGNORED:
        if name in {"left", "right"} and (dot := re.compile(r"\s*\.").match(text, position)):
            return dot.end()
        if (
            name in commands.DROPPED_ARGUMENT
            and opening
            and (end := closing_brace(text, opening.end())) is not None
        ):
            return end + 1
        return position
    if (
        name in commands.TEXT
        and opening
        and (end := closing_brace(text, opening.end())) is not None
    ):
        tokens.append(Token("text", text[opening.end() : end]))
        return end + 1
    kind: TokenKind = "command" if name.isalpha() else "mark"
    tokens.append(Token(kind, name))
    return position


def _escaped(character: str) -> list[Token]:
    if character == "\\":
        return [Token("command", "newline")]
    if character == "|":
        return [Token("mark", "|")]
    if character in "{}":
        return [Token("mark", "(" if character == "{" else ")")]
    if character == "%":
        return [Token("mark", "%")]
    if character in _SPACES or character.isspace():
        return []
    return [Token("mark", f"\\{character}")]


def _without_line_breaks(tokens: list[Token]) -> list[Token]:
    """Drop alignment marks and line breaks before a continued formula.

    Environments such as cases and matrices keep theirs.
    """
    if any(token.is_command("begin") for token in tokens):
        return tokens
    tokens = [token for token in tokens if not token.is_mark("&")]
    return [
        token
        for token, after in zip_longest(tokens, tokens[1:])
        if not (token.is_command("newline") and _continues(after))
    ]


def _continues(token: Token | None) -> bool:
    return (
        token is None
        or token.is_mark(*"=+-*/<>")
        or (token.kind == "command" and token.text in _RELATIONS)
    )


def _trim(tokens: list[Token]) -> list[Token]:
    """Drop punctuation, line breaks and wide spaces at the end, and the latter two at the start."""
    while tokens and (
        tokens[-1].is_mark(".", ",", ";", ":") or tokens[-1].is_command("newline", "qquad", "quad")
    ):
        tokens.pop()
    while tokens and tokens[0].is_command("newline", "qquad", "quad"):
        tokens.pop(0)
    return tokens

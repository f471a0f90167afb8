"""The tokens of a LaTeX formula, without layout and with one spelling for each meaning."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import zip_longest

from pytest_llmeval.scoring.eed.reader import commands
from pytest_llmeval.scoring.eed.reader.bars import with_states
from pytest_llmeval.scoring.eed.reader.brackets import with_round_brackets
from pytest_llmeval.scoring.eed.reader.formula_text import closing_brace, formula_text
from pytest_llmeval.scoring.eed.reader.guards import check_text
from pytest_llmeval.scoring.eed.reader.macros import without_macros
from pytest_llmeval.scoring.eed.reader.token import Token, TokenKind

_ENVIRONMENT = re.compile(
    r"\\(?:begin|end)\s*\{(?:equation|align|aligned|alignat|gather|gathered|multline|split|math"
    r"|displaymath|eqnarray)\*?\}"
)
_DELIMITERS = re.compile(r"\$|(?<!\\)\\[()\[\]]")
_THOUSANDS = re.compile(r"(?<![\d.,(])(\d{1,3})((?:(?:\{,\}|\\[,!]|,)\d{3})+)(?![\d,])")
_UPRIGHT_D = re.compile(r"\\(?:mathrm|rm|text|operatorname)\s*\{\s*d\s*\}|\{\s*\\rm\s+d\s*\}")
_UPRIGHT_EXPONENT = re.compile(
    r"(\d)\s*\\(?:mathrm|text|rm)\s*\{\s*[eE]\s*\}\s*\{?\s*([+-]?\d{1,3})\s*\}?"
)
_LEFT_BRACE = re.compile(
    r"\\left\s*\\\{\s*\\begin\s*\{(array|aligned|matrix)\}(?:\s*\{[lcr|]*\})?(.*?)\\end\s*\{\1\}",
    re.DOTALL,
)
_CASES = r"\\begin{cases}\2\\end{cases}"
_CALLIGRAPHIC = re.compile(r"\{\s*\\cal\s+([A-Z])\s*\}")
_TOKEN = re.compile(
    r"\\(?P<command>[A-Za-z]+)\*?|\\(?P<escape>.)"
    r"|(?P<number>\d+(?:\.\d+)?[eE][+-]?\d{1,3}(?![\dA-Za-z.])|\d+(?:\.\d+)?|\.\d+)"
    r"|(?P<letter>[^\W\d_])|(?P<mark>\S)",
    re.DOTALL,
)
_PLAIN_FUNCTION = re.compile(
    rf"(?<![\\A-Za-z])({'|'.join(commands.PLAIN_FUNCTIONS)})(?=[\s(\d\\{{\[]|$)"
)
_PLAIN_PI = re.compile(r"(?<![\\A-Za-z])pi(?![A-Za-z])")
_PROSE = re.compile(
    r"(?P<command>\\[A-Za-z]+\s*\{[^{}]*\})"
    r"|(?<![\\A-Za-z{_])(?:[A-Za-z]{3,}(?:\s+[A-Za-z]{2,}){2,}"
    r"|(?<=\s)(?:or|and|where|with|for|if|when)(?=\s)|directed\s+\w+)"
)
_RELATIONS = (
    commands.EQUALS | commands.APPROXIMATELY | commands.INEQUALITIES.keys() | {"cdot", "times"}
)
_LEADING_NUMBER = re.compile(r"\s*(\d+(?:\.\d+)?)(?![\w.,/])")
_SPACES = frozenset(",;:> ")
_NO_SPACES = frozenset("!/")
_ROW_SPACING = re.compile(r"\*?[ \t]*\[\s*-?[\d.]+\s*(?:pt|em|ex|mm|cm|mu|in)\s*\]|\*")


@lru_cache(maxsize=64)
def tokens_of(formula: str) -> tuple[Token, ...]:
    """Return the tokens of a formula; FormulaError if it exceeds a limit.

    The last few are cached: one scoring asks for the same two texts several times.
    """
    check_text(formula)
    text = formula_text(commands.to_latex(without_macros(formula)))
    text = _PROSE.sub(_as_text, text)
    text = _UPRIGHT_EXPONENT.sub(r"\1e\2", _LEFT_BRACE.sub(_CASES, text))
    text = _UPRIGHT_D.sub("d", _CALLIGRAPHIC.sub(r"\\mathcal{\1}", text))
    text = _DELIMITERS.sub(" ", _ENVIRONMENT.sub(" ", text))
    text = _THOUSANDS.sub(lambda match: match[1] + re.sub(r"\D", "", match[2]), text)
    text = _PLAIN_PI.sub(r"\\pi ", _PLAIN_FUNCTION.sub(r"\\\1 ", text))
    return tuple(with_round_brackets(with_states(_without_line_breaks(_trim(_scan(text))))))


def _as_text(found: re.Match[str]) -> str:
    r"""Return prose as the content of a ``\text{}``."""
    return found[0] if found["command"] else rf"\text{{ {found[0]} }}"


def latex_of(tokens: Sequence[Token]) -> str:
    """Return tokens as LaTeX."""
    written = {"command": "\\{} ", "text": "\\text{{{}}}"}
    return "".join(written.get(token.kind, "{}").format(token.text) for token in tokens).strip()


def _scan(text: str) -> list[Token]:
    tokens: list[Token] = []
    position = 0
    spaced = False
    while match := _TOKEN.search(text, position):
        position, before = match.end(), len(tokens)
        if match["command"] is not None:
            position = _command(match["command"], text, position, tokens)
        elif match["escape"] is not None:
            tokens.extend(_escaped(match["escape"]))
            if match["escape"] == "\\" and (spacing := _ROW_SPACING.match(text, position)):
                position = spacing.end()
        elif match["number"] is not None:
            tokens.append(Token("number", match["number"]))
        elif match["letter"] is not None:
            tokens.append(Token("letter", match["letter"]))
        elif match["mark"] != "~":
            tokens.append(Token("mark", match["mark"]))
        if len(tokens) > before:
            if spaced:
                tokens[before] = replace(tokens[before], spaced=True)
            spaced = False
        else:
            spaced = spaced or match["escape"] in _SPACES or match["mark"] == "~"
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
        inside = text[opening.end() : end]
        if number := _LEADING_NUMBER.match(inside):
            tokens.append(Token("number", number[1]))
        tokens.append(Token("text", inside[number.end() if number else 0 :]))
        return end + 1
    if name == "Pr":  # a probability, which most write P
        tokens.append(Token("letter", "P"))
        return position
    kind: TokenKind = "command" if name.isalpha() else "mark"
    tokens.append(Token(kind, name))
    return position


def _escaped(character: str) -> list[Token]:
    if character == "\\":
        return [Token("command", "newline")]
    if character == "|":
        return [Token("mark", "|")]
    if character in "{}":
        return [Token("mark", f"\\{character}")]
    if character == "%":
        return [Token("mark", "%")]
    if character in _SPACES or character in _NO_SPACES or character.isspace():
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

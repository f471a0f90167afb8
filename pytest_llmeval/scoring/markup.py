r"""A model's text without its mark-up: LaTeX wrappers, Markdown, typographic signs.

``**\(9{,}8 \times 10^{5}\,\text{m}^2\)**`` becomes ``9,8 × 10^5 m^2``. Every substitution is one
pass over the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Final

_SIGNS: Final = {
    "times": "×",
    "cdot": "·",
    "approx": "≈",
    "simeq": "≈",
    "sim": "≈",
    "le": "≤",
    "leq": "≤",
    "ge": "≥",
    "geq": "≥",
    "ne": "≠",
    "neq": "≠",
    "lt": "<",
    "gt": ">",
    "pm": "±",
    "pi": "π",
    "mu": "µ",
    "Omega": "Ω",
    "degree": "°",
    "sqrt": "√",
    "infty": "∞",
    "div": "÷",
    "quad": " ",
    "qquad": " ",
    "left": "",
    "right": "",
    "big": "",
    "Big": "",
    "displaystyle": "",
    "implies": "; ",
    "Rightarrow": "; ",
    "rightarrow": "; ",
    "to": "; ",
    "therefore": "",
}
_COMMAND = re.compile(r"\\([A-Za-z]+)(?![A-Za-z])")
_FONT = re.compile(
    r"\\(?:text|textbf|textit|textrm|textsf|texttt|mathrm|mathbf|mathit|mathsf|operatorname|mbox"
    r"|emph|bf|bm|boldsymbol|fbox|boxed|underline|si|unit)\s*+\{(?P<inner>[^{}]*)\}"
)
_DEGREE = re.compile(r"\^\s*+(?:\{\s*+\\circ\s*+\}|\\circ(?![A-Za-z]))")
_EXPONENT = re.compile(r"\^\s*+\{\s*+(?P<power>[-+]?\d{1,6})\s*+\}")
_FRACTION = re.compile(
    r"(?P<before>\d?)\\[dtc]?frac\s*+"
    r"(?:\{(?P<top>[^{}]*)\}\s*+\{(?P<bottom>[^{}]*)\}|(?P<tops>\d)\s*+(?P<bottoms>\d))"
)
_LATEX_SPACE = re.compile(r"\\[,;: ]|~")
_MATH_PAIR = re.compile(r"\$(?=[^\s$])(?P<inner>[^$\n]*)(?<=[^\s$])\$(?!\d)")
_MARKDOWN = re.compile(
    r"(?<!\w)(?:\*\*|__)|(?:\*\*|__)(?!\w)|`"
    # Not the heading of four, with which GSM8K marks answers.
    r"|^[ \t]*+#{1,6}[ \t]++(?<!####[ ])|^[ \t]*+[*•+][ \t]++"
    r"|^[ \t]*+-[ \t]++(?=[^\s\d.$€£¥])",
    re.MULTILINE,
)
_EMPHASIS = re.compile(r"(?<![\w*])[*_](?P<inner>[^*_\s](?:[^*_\n]*[^*_\s])?)[*_](?![\w*])")
_SUPERSCRIPT = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻]+")
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")
_VULGAR = re.compile("[¼½¾⅐-⅞]")
_TYPOGRAPHY = str.maketrans(
    {
        "−": "-",
        "‐": "-",
        "‑": "-",
        "⁄": "/",
        "∕": "/",
        "∗": "*",
        "⋅": "·",
        "∙": "·",
        "—": " , ",
        "→": "; ",
        "⇒": "; ",
        "∴": "",
        "º": "°",
        "μ": "µ",
        "，": ",",
        "．": ".",
        "％": "%",
        "：": ":",
        "＝": "=",
        "。": ". ",
        "（": "(",
        "）": ")",
        "\u200b": "",
        "\u2060": "",
        "\ufeff": "",
        "\u00ad": "",
    }
)
CURRENCY_DOLLAR: Final = "$"
_ESCAPED_DOLLAR: Final = "\ue000"  # private use: a dollar sign that opens no formula


def unmarked(text: str) -> str:
    """Return `text` without mark-up, with plain signs for LaTeX commands."""
    for rule in _STEPS:
        text = rule(text)
    return text


def _typography(text: str) -> str:
    text = text.translate(_TYPOGRAPHY)
    text = _SUPERSCRIPT.sub(lambda run: "^" + run[0].translate(_SUPERSCRIPTS), text)
    text = _VULGAR.sub(lambda sign: " " + _vulgar(sign[0]), text)
    if text.isascii():
        return text
    # Digits of other scripts and styles; superscripts are none of them (category No).
    return "".join(
        str(unicodedata.decimal(sign)) if sign > "\x7f" and sign.isdecimal() else sign
        for sign in text
    )


def _vulgar(sign: str) -> str:
    return unicodedata.normalize("NFKC", sign).replace("⁄", "/")


def _delimiters(text: str) -> str:
    text = text.replace("\\$", _ESCAPED_DOLLAR).replace("\\%", "%").replace("\\\\", "\\ ")
    text = re.sub(r"\\[()\[\]]", " ", text).replace("$$", " ")
    text = _MATH_PAIR.sub(lambda pair: f" {pair['inner']} ", text)
    return text.replace(_ESCAPED_DOLLAR, CURRENCY_DOLLAR)


def _spaces(text: str) -> str:
    text = text.replace("{,}", ",").replace("\\!", "")
    return re.sub(r"[^\S\n]", " ", _LATEX_SPACE.sub(" ", text))


def _fonts(text: str) -> str:
    for _ in range(3):  # fonts inside fonts, as models nest them
        text = _FONT.sub(lambda font: font["inner"], text)
    return text


def _fraction(match: re.Match[str]) -> str:
    top, bottom = (match["top"] or match["tops"] or ""), (match["bottom"] or match["bottoms"] or "")
    number = re.compile(r"\s*[-+]?\d[\d.,]*\s*")
    if number.fullmatch(top) and number.fullmatch(bottom):
        # A blank makes a mixed number of 2\frac{1}{2}.
        return f"{match['before']}{' ' if match['before'] else ''}{top.strip()}/{bottom.strip()}"
    if re.search(r"\d", re.sub(r"\^-?\d", "", top + bottom)):
        return match[0]
    return f"{match['before']} ({top})/({bottom})"


def _commands(text: str) -> str:
    return _COMMAND.sub(lambda command: _SIGNS.get(command[1], command[0]), text)


def _markdown(text: str) -> str:
    return _EMPHASIS.sub(lambda emphasis: emphasis["inner"], _MARKDOWN.sub("", text))


_STEPS: Final[tuple[Callable[[str], str], ...]] = (
    _typography,
    _delimiters,
    _spaces,
    lambda text: _DEGREE.sub("°", text),
    _commands,
    lambda text: _EXPONENT.sub(r"^\g<power>", text),
    _fonts,
    lambda text: _EXPONENT.sub(r"^\g<power>", text),
    lambda text: _FRACTION.sub(_fraction, text),
    _fonts,  # a box around a fraction
    _markdown,
)

"""The marks by which models set their reasoning apart from the answer, and where a text has them.

A mark is found by its form alone; what it means at its place is decided in `engine.reasoning`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, Literal, NamedTuple, TypeAlias

Kind: TypeAlias = Literal["opens", "closes", "fence"]

_NAMES: Final = ("think", "thinking", "thought", "reasoning", "seed:think")

PAIRS: Final[Mapping[str, tuple[str, str]]] = {
    # DeepSeek, Qwen, GLM, MiniMax, Phi and most others; Exaone Deep (thought), Seed-OSS.
    **{name: (f"<{name}>", f"</{name}>") for name in _NAMES},
    "magistral": ("[THINK]", "[/THINK]"),
    "kimi": ("◁think▷", "◁/think▷"),
    "cohere": ("<|START_THINKING|>", "<|END_THINKING|>"),
    "openthinker": ("<|begin_of_thought|>", "<|end_of_thought|>"),
    "medgemma": ("<unused94>", "<unused95>"),
    "gemma": ("<|channel>", "<channel|>"),
    "apertus": ("<|inner_prefix|>", "<|inner_suffix|>"),
}
"""The opening and the closing mark of each family, in any case of letters."""

HARMONY: Final = "harmony"
"""The family of gpt-oss, whose marks are headers of messages: the channel `final` closes, the other
channels open."""

_HEADER: Final = (
    r"<(?:\|end\|><)?(?:\|start\|>assistant<)?\|channel\|>"
    r"(?P<channel>final|analysis|commentary)\b[^<]{0,99}(?:<\|constrain\|>[^<]{0,99})?<\|message\|>"
)
_BARE_HEADER: Final = "assistantfinal"
"""What is left of the header of `final` where a server drops control tokens."""

_BEFORE_ANSWER: Final = ("<|START_RESPONSE|>", "<|begin_of_solution|>")
_AFTER_ANSWER: Final = ("<|END_RESPONSE|>", "<|end_of_solution|>", "<|return|>", "<|end|>")
"""Marks around an answer, of families that mark it too."""

_KNOWN: Final[Mapping[str, tuple[Kind, str]]] = {
    **{opens.lower(): ("opens", family) for family, (opens, _) in PAIRS.items()},
    **{closes.lower(): ("closes", family) for family, (_, closes) in PAIRS.items()},
}
_ANGLED: Final = "|".join(re.escape(mark[1:]) for mark in _KNOWN if mark[0] == "<")
_OTHER: Final = [re.escape(mark) for pair in PAIRS.values() for mark in pair if mark[0] != "<"]
# Each alternative begins with a fixed letter: only so `re` finds fast where one may begin.
_MARK: Final = "|".join([f"<(?i:{_ANGLED})", _HEADER, *_OTHER, _BARE_HEADER])
_ANY_MARK: Final = re.compile(_MARK)
_TOKEN: Final = re.compile(f"{_MARK}|```+|~~~+")

_QUOTES: Final = frozenset("`\"'‘’“”«»")


class Token(NamedTuple):
    """A mark in a text, or the signs of a code fence.

    Attributes:
        start, end: its place.
        kind: what it is.
        family: key of `PAIRS`, or "harmony"; of a fence its sign.
        quoted: whether a quotation mark or a backtick stands before it; of a closing mark, on both
            of its sides.
    """

    start: int
    end: int
    kind: Kind
    family: str
    quoted: bool


def has_marks(text: str) -> bool:
    """Return whether there is any mark of reasoning in a text."""
    return _ANY_MARK.search(text) is not None


def tokens_of(text: str) -> Iterator[Token]:
    """Yield the marks and fences of a text, in order."""
    for found in _TOKEN.finditer(text):
        start, end = found.span()
        kind, family = _meaning(found)
        quoted = kind != "fence" and text[start - 1 : start] in _QUOTES
        if kind == "closes":
            quoted = quoted and text[end : end + 1] in _QUOTES
        yield Token(start, end, kind, family, quoted)


def without_answer_marks(visible: str) -> str:
    """Return visible text without the marks that stand around it."""
    visible = visible.strip()
    for mark in _BEFORE_ANSWER:
        visible = visible.removeprefix(mark)
    end = len(visible)
    while visible.endswith(_AFTER_ANSWER, 0, end):
        end = visible.rindex("<|", 0, end)
        while end and visible[end - 1].isspace():
            end -= 1
    return visible[:end]


def _meaning(found: re.Match[str]) -> tuple[Kind, str]:
    """Return what a token is, and its family."""
    if (known := _KNOWN.get(found[0].lower())) is not None:
        return known
    if found[0][0] in "`~":
        return "fence", found[0][0]
    return "closes" if found["channel"] in (None, "final") else "opens", HARMONY

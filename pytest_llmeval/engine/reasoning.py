"""Reasoning in a reply's text, set apart from what the model shows as its answer.

Some servers send a model's reasoning in a field of its own; others leave it in the text, between
marks such as ``<think>`` and ``</think>``. These rules separate it:

- An opening mark counts at the beginning of the text or of a line. Once reasoning was found it
  counts within a line too, if a closing mark follows.
- Reasoning ends at the closing mark of the same kind; of any kind, if there is none of its own; at
  the end of the text, if there is none at all.
- A closing mark without an opening one makes all text before it reasoning: chat templates often
  hold the opening mark.
- Marks in quotation marks, backticks or code fences, and an opening with its closing mark in the
  middle of a line, are text: an answer may speak of them.

Each function takes time linear in the length of the text.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from msgspec.structs import replace

from pytest_llmeval.engine.reasoning_marks import Token, has_marks, tokens_of, without_answer_marks
from pytest_llmeval.records import Reply

_BLANK: Final = " \t\r\n\ufeff"
_MORE_ON_LINE: Final = re.compile(r"[ \t]*[^\s]")


class Split(NamedTuple):
    """A text, taken apart: what the model shows, and its reasoning, without the marks."""

    visible: str
    reasoning: str


class Piece(NamedTuple):
    """A part of a text, from `start` to `end`; the marks between two parts belong to none."""

    start: int
    end: int
    is_reasoning: bool


def with_reasoning_apart(reply: Reply) -> Reply:
    """Return a reply whose text is the visible part; the rest stands in `reasoning`.

    A reply that ended by itself but shows nothing besides its reasoning never came to its answer:
    its stop reason is ``length``.
    """
    split = split_reasoning(reply.text)
    # Some servers send the reasoning twice: in the text and in a field of its own.
    parts = dict.fromkeys(part for part in (reply.reasoning.strip(), split.reasoning) if part)
    shows = split.visible.strip() or reply.images or reply.tool_calls
    unfinished = bool(parts) and not shows and reply.stop_reason == "stop"
    if split.visible == reply.text and not unfinished:
        return reply
    return replace(
        reply,
        text=split.visible,
        reasoning="\n\n".join(parts),
        stop_reason="length" if unfinished else reply.stop_reason,
    )


def split_reasoning(text: str) -> Split:
    r"""Return the visible part of a reply's text, and the reasoning in it.

    A text without reasoning is returned as it is; otherwise both parts are stripped.

    Example:
        >>> split_reasoning("<think>First guess: \\boxed{2mg}</think>\\boxed{mg}")
        Split(visible='\\boxed{mg}', reasoning='First guess: \\boxed{2mg}')
    """
    pieces = pieces_of(text)
    if pieces == [Piece(0, len(text), is_reasoning=False)]:
        return Split(text, "")
    reasoning = (text[piece.start : piece.end].strip() for piece in pieces if piece.is_reasoning)
    visible = _joined([text[piece.start : piece.end] for piece in pieces if not piece.is_reasoning])
    return Split(without_answer_marks(visible).strip(_BLANK), "\n\n".join(filter(None, reasoning)))


def pieces_of(text: str) -> list[Piece]:
    """Return the visible and the reasoning parts of a text, in order."""
    return _Reader(text).pieces() if has_marks(text) else [Piece(0, len(text), is_reasoning=False)]


def _joined(parts: list[str]) -> str:
    """Return visible parts as one text; with a blank where two words would become one."""
    joined: list[str] = []
    for part in filter(None, parts):
        if joined and not (joined[-1][-1].isspace() or part[0].isspace()):
            joined.append(" ")
        joined.append(part)
    return "".join(joined)


class _Reader:
    """Reads a text from left to right, from mark to mark."""

    def __init__(self, text: str) -> None:
        self._text, self._tokens = text, list(tokens_of(text))
        self._pieces: list[Piece] = []
        closing = [one for one in self._tokens if one.kind == "closes" and not one.quoted]
        self._last_close = closing[-1].start if closing else -1
        self._last_close_of = {one.family: one.start for one in closing}
        self._tail = self._beginning_of_tail()
        # The piece that is being read: where it began, and by which mark if it is reasoning.
        self._start = self._read = 0
        self._opened: Token | None = None
        self._found = self._answered = False
        # Of what is visible: whether its line, or the piece, has been blank so far; the sign of an
        # open code fence; an opening mark that is text.
        self._line_blank = self._piece_blank = True
        self._fence = ""
        self._mention: Token | None = None

    def pieces(self) -> list[Piece]:
        """Return the pieces."""
        for token in self._tokens:
            if self._opened is not None:
                if token.kind == "closes" and self._ends(token, self._opened):
                    self._close(token)
                continue
            self._pass_over(self._text[self._read : token.start])
            self._read = token.end
            if token.kind == "opens" and self._opens(token):
                self._end_piece(token, is_reasoning=False)
                self._opened = token
            elif token.kind == "closes" and not self._is_mention(token):
                self._close_unopened(token)
            else:
                self._keep(token)
        self._pieces.append(
            Piece(self._start, len(self._text), is_reasoning=self._opened is not None)
        )
        return self._pieces

    def _beginning_of_tail(self) -> int:
        """Return where the closing marks and blanks at the end of the text begin."""
        end = len(self._text)
        for token in reversed(self._tokens):
            if token.kind != "closes" or self._text[token.end : end].strip(_BLANK):
                break
            end = token.start
        return end

    def _pass_over(self, gap: str) -> None:
        """Note what stands between two tokens of visible text."""
        line = gap.rpartition("\n")[2]
        blank = not line.strip(_BLANK)
        if len(line) < len(gap):
            self._line_blank = blank
            if not self._fence:
                self._mention = None
        else:
            self._line_blank = self._line_blank and blank
        self._piece_blank = self._piece_blank and not gap.strip(_BLANK)

    def _opens(self, token: Token) -> bool:
        if token.quoted or self._fence:
            return False
        in_line = not (self._line_blank or self._piece_blank)
        return not in_line or (self._found and self._last_close > token.start)

    def _ends(self, token: Token, opened: Token) -> bool:
        own = self._last_close_of.get(opened.family, -1) > opened.start
        if own and token.family != opened.family:
            return False
        # The last one ends it also in quotation marks, which may belong to both sides.
        return not token.quoted or self._last_close < token.end

    def _is_mention(self, token: Token) -> bool:
        """Return whether a closing mark in visible text is text."""
        if token.quoted:
            return True
        if self._mention is None:
            return False
        return (
            bool(self._fence)
            or self._mention.quoted
            or token.start >= self._tail
            or _MORE_ON_LINE.match(self._text, token.end) is not None
        )

    def _keep(self, token: Token) -> None:
        """Leave a token in the visible text."""
        if token.kind == "fence" and self._line_blank and self._fence in ("", token.family):
            self._fence = "" if self._fence else token.family
            self._mention = None
        elif token.kind == "opens":
            self._mention = token
        elif token.kind == "closes":
            self._mention = None
        self._line_blank = self._piece_blank = False

    def _close(self, token: Token) -> None:
        """End reasoning at a mark."""
        self._end_piece(token, is_reasoning=True)
        self._opened, self._found, self._mention = None, True, None

    def _close_unopened(self, token: Token) -> None:
        """Take all that was read as reasoning; not where only such marks follow an answer."""
        answered = self._answered or not self._piece_blank
        if self._found and answered and token.start >= self._tail:
            self._end_piece(token, is_reasoning=False)
            return
        self._pieces, self._start = [], 0
        self._close(token)
        self._line_blank, self._answered, self._fence = True, False, ""

    def _end_piece(self, token: Token, *, is_reasoning: bool) -> None:
        self._pieces.append(Piece(self._start, token.start, is_reasoning=is_reasoning))
        self._start = self._read = token.end
        self._answered = self._answered or not (is_reasoning or self._piece_blank)
        self._piece_blank = True

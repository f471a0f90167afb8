r"""Calls in a model's text: ``<tool>name(argument=value, ...)</tool>``, found and parsed.

Values are numbers, ``true``, ``false``, ``null`` (also in Python's spelling), texts in single,
double or triple quotes, lists and dictionaries of them. Texts may hold line breaks, tags and the
escapes of Python; an unknown escape such as ``\d`` stays as it is. Nothing is evaluated, and the
time is linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, NoReturn, TypeVar

from pytest_llmeval.records import Json
from pytest_llmeval.scoring.trajectory.written_call import WrittenCall

OPEN: Final = "<tool>"
CLOSE: Final = "</tool>"

DEEPEST_VALUE: Final = 20
"""Lists and dictionaries in each other."""

_T = TypeVar("_T")

_SPACE = re.compile(r"\s*+")
_NAME = re.compile(r"[A-Za-z0-9_-]++")
_NUMBER = re.compile(r"[+-]?\d++(?P<rest>(?:\.\d*+)?(?:[eE][+-]?\d++)?)", re.ASCII)
# The alternatives begin with different characters, so a text without an end costs one step back for
# each.
_QUOTED = (
    re.compile(r'"""((?:[^"\\]++|\\.|"(?!""))*)"""', re.DOTALL),
    re.compile(r"'''((?:[^'\\]++|\\.|'(?!''))*)'''", re.DOTALL),
    re.compile(r'"((?:[^"\\]++|\\.)*)"', re.DOTALL),
    re.compile(r"'((?:[^'\\]++|\\.)*)'", re.DOTALL),
)
_WORDS: Final[dict[str, Json]] = {
    "true": True,
    "True": True,
    "false": False,
    "False": False,
    "null": None,
    "None": None,
}
_ESCAPE = re.compile(
    r"\\(x[\da-fA-F]{2}|u[\da-fA-F]{4}|U000[\da-fA-F]{5}|U0010[\da-fA-F]{4}|.)", re.DOTALL
)
_ESCAPED: Final = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f", "\n": ""} | {
    sign: sign for sign in "\\\"'/"
}
_DIGITS = 300
"""Most digits of a number."""

_EXCERPT = 40
"""Characters that a problem quotes."""


class _SyntaxError(Exception):
    """A call cannot be read."""


def written_calls(text: str) -> list[WrittenCall]:
    """Return the calls in a text, in order; those that cannot be read say why."""
    return list(_calls(text))


def _calls(text: str) -> Iterator[WrittenCall]:
    start = text.find(OPEN)
    while start >= 0:
        reader = _Reader(text, start + len(OPEN))
        try:
            name, arguments = reader.call()
            yield WrittenCall(name=name, arguments=arguments)
            end = reader.place
        except _SyntaxError as error:
            problem = (
                f"The call cannot be read: {error}. "
                f"Write {OPEN}name(argument=value, ...){CLOSE}, each text in quotes."
            )
            yield WrittenCall(name="", arguments=None, problem=problem)
            # From where reading stopped, so that nothing is read twice.
            closed = text.find(CLOSE, reader.place)
            end = len(text) if closed < 0 else closed + len(CLOSE)
        start = text.find(OPEN, end)


class _Reader:
    """Reads one call from `place` on, which follows what was read."""

    def __init__(self, text: str, place: int) -> None:
        self._text, self.place = text, place

    def call(self) -> tuple[str, dict[str, Json]]:
        """Return name and arguments, with the closing tag behind them."""
        name = self._matched(_NAME, "the name of a tool")[0]
        self._expect("(")
        pairs = self._listed(")", self._argument)
        self._expect(CLOSE)
        return name, self._unique(pairs)

    def _argument(self) -> tuple[str, Json]:
        name = self._matched(_NAME, "the name of an argument")[0]
        self._expect("=")
        return name, self._value(1)

    def _entry(self, depth: int) -> tuple[str, Json]:
        key = self._quoted()
        if key is None:
            self._refuse("a key in quotes")
        self._expect(":")
        return key, self._value(depth)

    def _value(self, depth: int) -> Json:
        if depth > DEEPEST_VALUE:
            msg = f"its values are deeper than {DEEPEST_VALUE} levels"
            raise _SyntaxError(msg)
        if (text := self._quoted()) is not None:
            return text
        if self._taken("["):
            return self._listed("]", lambda: self._value(depth + 1))
        if self._taken("{"):
            return self._unique(self._listed("}", lambda: self._entry(depth + 1)))
        if number := _NUMBER.match(self._text, self.place):
            return self._number(number)
        word = _NAME.match(self._text, self.place)
        if word is None or word[0] not in _WORDS:
            self._refuse("a value: a number, true, false, null, a text in quotes, [...] or {...}")
        self.place = word.end()
        return _WORDS[word[0]]

    def _number(self, found: re.Match[str]) -> int | float:
        if len(found[0]) > _DIGITS:
            msg = f"a number has more than {_DIGITS} digits"
            raise _SyntaxError(msg)
        value = float(found[0]) if found["rest"] else int(found[0])
        if abs(value) == float("inf"):
            msg = f"the number {found[0][:_EXCERPT]} is too large"
            raise _SyntaxError(msg)
        self.place = found.end()
        return value

    def _quoted(self) -> str | None:
        self._skip()
        for quoted in _QUOTED:
            if found := quoted.match(self._text, self.place):
                self.place = found.end()
                return _unescaped(found[1])
        return None

    def _listed(self, close: str, read: Callable[[], _T]) -> list[_T]:
        """Return what stands between commas up to `close`; a last comma may be empty."""
        found: list[_T] = []
        while not self._taken(close):
            found.append(read())
            if not self._taken(","):
                self._expect(close)
                break
        return found

    def _unique(self, pairs: list[tuple[str, Json]]) -> dict[str, Json]:
        found: dict[str, Json] = {}
        for key, value in pairs:
            if key in found:
                msg = f"{key[:_EXCERPT]!r} stands twice"
                raise _SyntaxError(msg)
            found[key] = value
        return found

    def _matched(self, pattern: re.Pattern[str], wanted: str) -> re.Match[str]:
        self._skip()
        found = pattern.match(self._text, self.place)
        if found is None:
            self._refuse(wanted)
        self.place = found.end()
        return found

    def _taken(self, sign: str) -> bool:
        self._skip()
        if not self._text.startswith(sign, self.place):
            return False
        self.place += len(sign)
        return True

    def _expect(self, sign: str) -> None:
        if not self._taken(sign):
            self._refuse(sign)

    def _skip(self) -> None:
        if found := _SPACE.match(self._text, self.place):
            self.place = found.end()

    def _refuse(self, wanted: str) -> NoReturn:
        rest = self._text[self.place : self.place + _EXCERPT]
        msg = f"it ends before {wanted}" if not rest else f"{rest!r} stands where {wanted} should"
        raise _SyntaxError(msg)


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    written = _ESCAPE.sub(_sign, text)
    # Halves of surrogate pairs, as JSON escapes them, become one sign; a lone half is none.
    return written.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _sign(escape: re.Match[str]) -> str:
    code = escape[1]
    return chr(int(code[1:], 16)) if len(code) > 1 else _ESCAPED.get(code, escape[0])

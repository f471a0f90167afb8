"""Text of others, made fit to be printed: without control characters, and cut.

Models, datasets, providers and tools write what a run shows. An escape sequence among it could
redraw the terminal, half a surrogate pair cannot be sent to a worker or written as UTF-8, and NUL
is not allowed in XML.
"""

from __future__ import annotations

import re
from typing import Final

LIMIT: Final = 10_000
"""Longest printed text, in characters, unless the caller says otherwise."""

_LOOK_AT: Final = 4
"""How many times the limit is looked at, because what is removed does not count against it."""

SEQUENCES: Final = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    # OSC, DCS, SOS, PM, APC, up to their end; bounded, or many unfinished ones take for ever.
    r"|\x1b[\]PX^_].{0,500}?(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]*[0-~]"  # the rest, of two characters and a little more
    r"|\x9b[0-?]*[ -/]*[@-~]",  # CSI as one character
    re.DOTALL,
)
"""The sequences that steer a terminal."""

_BREAKS: Final = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_UNFIT: Final = re.compile(
    r"[\x00-\x08\x0e-\x1f\x7f-\x9f"  # C0 but tab and line feed, DEL, C1
    r"\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff"  # marks of direction, invisible
    r"\ud800-\udfff\ufff9-\ufffb\ufffe\uffff"  # half pairs, what XML does not know
    r"\U000e0000-\U000e007f]"  # invisible copies of ASCII
)


def printable(text: str, limit: int = LIMIT) -> str:
    r"""Return `text` without control characters other than tab and line feed, and cut.

    Whatever begins a line elsewhere (a carriage return, U+2028) becomes a line feed.

    Args:
        text: any text; of a subclass of str only the characters are looked at.
        limit: characters that are kept at most, without the remark on how many are left out.

    Example:
        >>> printable("\x1b[31mred\x1b[0m\r\nnext", limit=5)
        'red\\nn… (3 more characters)'
    """
    # The slice of a subclass by str's own method is a str, whatever the subclass overrides.
    length, seen = str.__len__(text), str.__getitem__(text, slice(limit * _LOOK_AT))
    left_out = length - len(seen)
    if length <= limit and seen.isprintable():
        return seen  # most texts; what has to go is never printable in Python's sense
    seen = _UNFIT.sub("", _BREAKS.sub("\n", SEQUENCES.sub("", seen)))
    left_out += max(0, len(seen) - limit)
    return f"{seen[:limit]}… ({left_out:,} more characters)" if left_out else seen


def described(error: BaseException, limit: int = 2_000) -> str:
    """Return ``Class: message`` of any exception, printable and cut.

    It never raises: the exception may be of any class, whose ``__str__`` may fail or return
    anything. Of a group, the first exceptions follow.

    Args:
        error: the exception.
        limit: characters that are kept of its message at most.
    """
    text = f"{class_name(error)}: {message_of(error, limit)}"
    if isinstance(error, BaseExceptionGroup):
        inside = [described(one, limit // 4) for one in _members(error)]
        text = "\n".join((text, *(f"- {one}" for one in inside)))
    return printable(text.removesuffix(": "), limit)


def class_name(error: BaseException) -> str:
    """Return the name of an exception's class, also of one whose metaclass hides it."""
    return printable(str(type.__dict__["__name__"].__get__(type(error))), 200)


def message_of(error: BaseException, limit: int = LIMIT) -> str:
    """Return an exception's message, printable and cut; a remark if it has none to give."""
    try:
        return printable(str(error), limit)
    except BaseException as broken:  # noqa: BLE001 - its __str__ may raise anything
        return f"(its message cannot be read: {class_name(broken)})"


def _members(group: BaseExceptionGroup[BaseException]) -> tuple[BaseException, ...]:
    """Return the first exceptions of a group, or of the group that is its only member."""
    # By the class's own attribute, which a subclass may hide.
    found = BaseExceptionGroup.exceptions.__get__(group)
    for _ in range(10):
        if len(found) != 1 or not isinstance(found[0], BaseExceptionGroup):
            break
        found = BaseExceptionGroup.exceptions.__get__(found[0])
    return tuple(one for one in found[:3] if not isinstance(one, BaseExceptionGroup))

"""The built-in answer rules: functions from a model's text to the answer in it, or None.

Each takes time linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from pytest_llmeval.scoring.boxes import boxes
from pytest_llmeval.scoring.last_line_letter import letter_of_last_line

_FENCED = re.compile(
    r"^(?P<indent>[ \t]*)(?P<fence>`{3,}|~{3,})[^\n`]*\n"
    r"(?P<code>.*?)(?:^[ \t]*(?P=fence)[`~]*[ \t]*$|\Z)",
    re.DOTALL | re.MULTILINE,
)
_DEFINES = re.compile(r"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]", re.MULTILINE)

_TAG = re.compile(r"<(/?)answer\s*+>", re.IGNORECASE)


def boxed_first(text: str) -> str | None:
    r"""Return the content of the first ``\boxed{}``.

    Empty boxes are skipped: a model that repeats its instructions writes one. Of nested boxes only
    the outermost counts; if it holds nothing but another box, the content of that one is returned.
    """
    return next(iter(boxes(text)), None)


def boxed_last(text: str) -> str | None:
    r"""Return the content of the last ``\boxed{}``; see `boxed_first`."""
    return next(reversed(boxes(text)), None)


def tagged(text: str) -> str | None:
    """Return the text between the last closed ``<answer>`` and its ``</answer>``."""
    answer, start = None, None
    for tag in _TAG.finditer(text):
        if not tag[1]:
            start = tag.end()
        elif start is not None:
            answer, start = (start, tag.start()), None
    return None if answer is None else text[slice(*answer)].strip()


def last_line(text: str) -> str | None:
    """Return the last line that is not blank."""
    return text.rstrip().rpartition("\n")[2].strip() or None


def choice(text: str) -> str | None:
    r"""Return the capital letter, A to H, that the last line states as the final answer.

    The line holds only the letter, possibly in brackets or in a ``\boxed{}``, and possibly after
    words such as "The answer is". There is no answer if several letters are stated as answers, in
    any lines. The scorer `choice` reads more forms than this rule.
    """
    return letter_of_last_line(text)


def code(text: str) -> str | None:
    """Return the program in a text: a code fence, or the whole text where there is none.

    Of several fences the last counts that defines a function or a class, because an example of use
    often follows the program; of several without definitions the last. A fence that was not closed
    ends with the text. The program keeps its indentation, without that of its fence.
    """
    fences = [
        re.sub(f"^{match['indent']}", "", match["code"], flags=re.MULTILINE)
        for match in _FENCED.finditer(text)
    ]
    defining = [fence for fence in fences if _DEFINES.search(fence)]
    found = next(reversed(defining or fences), text)
    return found.rstrip().lstrip("\r\n") or None


def whole(text: str) -> str | None:
    """Return the whole text without surrounding blanks."""
    return text.strip() or None


RULES: Final[Mapping[str, Callable[[str], str | None]]] = {
    "boxed_first": boxed_first,
    "boxed_last": boxed_last,
    "tagged": tagged,
    "last_line": last_line,
    "choice": choice,
    "code": code,
    "whole": whole,
}
"""The rules by their names in task files; each returns None when the text holds no answer in its
form."""

"""Find the answer in a model's text, by the rule that a task names.

Linear in the text, whatever it holds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from pytest_llmeval.scoring.boxes import boxes
from pytest_llmeval.scoring.letters import letter_of_last_line

_TAG = re.compile(r"<(/?)answer\s*+>", re.IGNORECASE)


def boxed_first(text: str) -> str | None:
    r"""Return the content of the first ``\boxed{}``.

    Empty boxes are passed over: a model that repeats its instructions writes one. A box inside a
    box counts only as a part of the outer one, and is unwrapped when it is all that the outer one
    holds.
    """
    return next(iter(boxes(text)), None)


def boxed_last(text: str) -> str | None:
    r"""Return the content of the last ``\boxed{}``, by the same rules."""
    return next(reversed(boxes(text)), None)


def tagged(text: str) -> str | None:
    """Return what stands between the last ``<answer>`` that is closed and its ``</answer>``."""
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
    r"""Return the letter (A to H, a capital) that the last line states as the final answer.

    The line holds the letter alone, in brackets or in a ``\boxed{}``, behind words such as "The
    answer is" or not. A letter anywhere else is none: words begin with letters. Several letters
    stated as answers, in any lines, are none. The scorer `choice` reads more forms than this rule.
    """
    return letter_of_last_line(text)


def whole(text: str) -> str | None:
    """Return the text without the blanks around it."""
    return text.strip() or None


RULES: Final[Mapping[str, Callable[[str], str | None]]] = {
    "boxed_first": boxed_first,
    "boxed_last": boxed_last,
    "tagged": tagged,
    "last_line": last_line,
    "choice": choice,
    "whole": whole,
}
"""The rules by the names that task files give them; each returns None when the text holds no answer
in its form."""

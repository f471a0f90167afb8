r"""Where a text states its answer: in a ``\boxed{}``, behind ``####``, behind "the answer is"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pytest_llmeval.scoring.boxes import boxes_with_ends
from pytest_llmeval.scoring.markup import unmarked
from pytest_llmeval.scoring.retraction import collapsed, rejected, taken_back

_MARKER = re.compile(
    r"####[ \t]*+(?=[-+]?[$€£¥₹]?[-+]?\d)(?!\d++[.)][ \t])"
    r"|\b(?<!wrong )(?<!incorrect )answer(?:[ \t]++(?:to|for)\b[^.:\n]{0,80}?)?"
    r"(?:[ \t]*+[:=]|[ \t]++(?:is|was|would[ \t]be|will[ \t]be|must[ \t]be|comes[ \t]to))"
    r"(?![ \t]*+n['’]t)[ \t]*+:?\s*+",
    re.IGNORECASE,
)
_END = re.compile(
    r"\n|[.;!?](?=\s|$)|,?\s(?:because|since|which|where)\s|,?\s(?:not|rather than|instead of)\s"
    r"|(?<=[\w%°])\s\((?=[^)\n]{0,40}[^)\d.\n])",
    re.IGNORECASE,
)
_RETRACTED = re.compile(
    r"\b(?:wait|actually|correction|scratch that|on second thought|i made an? (?:mistake|error)"
    r"|let me (?:re|double|correct)|i was wrong|my mistake|sorry)\b",
    re.IGNORECASE,
)


_REPLACED = re.compile(
    r"\b(?:(?:it|that|answer)\s(?:must|should|has to|ought to)\sbe|make it"
    r"|or\s(?:maybe|perhaps|possibly|probably|rather))\s[-+$€£¥₹]{0,2}\d"
    r"|\d\s(?:\w+\s)?(?:fits|(?:is|seems|looks|sounds|would be)\s(?:better|more likely|closer))\b",
    re.IGNORECASE,
)
"""Another number is put in place of the stated one."""


@dataclass(frozen=True, slots=True)
class FinalStatement:
    """A stated answer, and where it begins and ends in the text that it was read from."""

    text: str
    start: int
    end: int


def statements(text: str) -> list[str]:
    """Return the stated answers in order of their kinds (boxes, then markers), without mark-up.

    A statement behind a marker ends with its sentence, or before "because" and the like.
    """
    boxed = [unmarked(content) for content, _ in boxes_with_ends(text)]
    return [*boxed, *(one.text for one in _marked(unmarked(text)))]


def retracted(text: str) -> bool:
    """Whether the text takes its last statement back, in it or behind it."""
    plain = unmarked(text)
    ends = [marker.end() for marker in _MARKER.finditer(plain)]
    if ends and _RETRACTED.search(plain, ends[-1]):
        return True
    marked = list(_marked(plain))[-1:]
    boxed = boxes_with_ends(text)[-1:]
    rests = [plain[one.end :] for one in marked] + [unmarked(text[end:]) for _, end in boxed]
    behind = collapsed(min(rests, key=len, default=""))
    # The sentence of a statement may go on behind its end: "18 is" and "not the right answer".
    whole = [collapsed(plain[one.start :]) for one in marked]
    return bool(
        taken_back(behind) or any(map(rejected, [behind, *whole])) or _REPLACED.search(behind)
    )


def _marked(plain: str) -> Iterator[FinalStatement]:
    markers = list(_MARKER.finditer(plain))
    limits = [marker.start() for marker in markers[1:]] + [len(plain)]
    for marker, limit in zip(markers, limits[: len(markers)], strict=True):
        start = marker.end()
        found = _END.search(plain, start, limit)
        end = found.start() if found else limit
        if stated := plain[start:end].strip():
            yield FinalStatement(stated, start, end)

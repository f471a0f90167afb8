r"""Where a text states its answer: in a ``\boxed{}``, behind ``####``, behind "the answer is"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_llmeval.scoring.boxes import boxes
from pytest_llmeval.scoring.markup import unmarked

_MARKER = re.compile(
    r"####[ \t]*+(?=[-+]?[$€£¥₹]?[-+]?\d)(?!\d++[.)][ \t])"
    r"|\banswer(?:[ \t]++(?:to|for)\b[^.:\n]{0,80}?)?"
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


def statements(text: str) -> list[str]:
    """Return the stated answers in order of their kinds (boxes, then markers), without mark-up.

    A statement behind a marker ends with its sentence, or before "because" and the like.
    """
    return [*map(unmarked, boxes(text)), *_marked(unmarked(text))]


def retracted(text: str) -> bool:
    """Whether the text takes something back after its last statement behind a marker."""
    plain = unmarked(text)
    ends = [marker.end() for marker in _MARKER.finditer(plain)]
    return bool(ends) and _RETRACTED.search(plain, ends[-1]) is not None


def _marked(plain: str) -> Iterator[str]:
    markers = list(_MARKER.finditer(plain))
    limits = [marker.start() for marker in markers[1:]] + [len(plain)]
    for marker, limit in zip(markers, limits[: len(markers)], strict=True):
        start = marker.end()
        end = _END.search(plain, start, limit)
        if stated := plain[start : end.start() if end else limit].strip():
            yield stated

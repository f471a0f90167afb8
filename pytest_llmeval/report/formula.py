"""LaTeX formulas as MathML, in the form of plain lists that a page builds its elements from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final
from xml.etree.ElementTree import Element

from pytest_llmeval.records import Json

LONGEST: Final = 2_000
"""Characters of a formula that are read; a longer one is shown as text."""

MOST_NODES: Final = 2_000
"""Elements that a formula may have."""

_DEEPEST = 60

_CHILDREN: Final = {
    **dict.fromkeys(("math", "mrow", "msqrt", "mtable", "mtr", "mtd", "mstyle")),
    **dict.fromkeys(("mi", "mn", "mo", "mtext", "mspace"), 0),
    **dict.fromkeys(("mfrac", "mroot", "msub", "msup", "munder", "mover"), 2),
    **dict.fromkeys(("msubsup", "munderover"), 3),
}
"""The elements that are let through, with the number of their children (None: any)."""

_AS_ROW: Final = frozenset({"mphantom", "mpadded", "menclose"})
"""What only changes the look of its content: the content is shown plainly, nothing is hidden or
moved."""

_ATTRIBUTES: Final = {
    "stretchy": ("true", "false"),
    "fence": ("true", "false"),
    "accent": ("true", "false"),
    "displaystyle": ("true", "false"),
    "form": ("prefix", "infix", "postfix"),
    "columnalign": ("left", "center", "right"),
    "linethickness": ("0",),
    "width": ("0.167em", "0.222em", "0.278em", "1em", "2em"),
}
"""The attributes that are let through, with their values: no links, styles, colours, sizes or
handlers."""

_DELIMITERS = (("$$", "$$"), ("$", "$"), (r"\[", r"\]"), (r"\(", r"\)"))
_ENTITY = re.compile(r"&#x([0-9A-F]{2,6});")


class _UnfitError(Exception):
    """The formula is none, or not one that is shown as MathML."""


@lru_cache(maxsize=1024)
def mathml(latex: str) -> Json:
    """Return the formula as ``[name, attributes, *children]``; None when it cannot be read.

    Only elements and attributes on a short list come out, whatever went in.
    """
    source = _bare(latex)
    if not source or len(source) > LONGEST:
        return None
    from latex2mathml.converter import (  # noqa: PLC0415 - 50 ms, for reports with formulas
        convert_to_element,
    )

    try:
        tree = convert_to_element(source)
        if sum(1 for _ in tree.iter()) > MOST_NODES:
            return None
        return ["math", {"display": "block"}, *_built_all(tree, 0)]
    except Exception:  # noqa: BLE001 - the library raises anything on what models write
        return None


def _bare(latex: str) -> str:
    """Return the formula without the signs that set it off."""
    text = latex.strip()
    for start, end in _DELIMITERS:
        if len(text) > len(start + end) and text.startswith(start) and text.endswith(end):
            return text[len(start) : -len(end)].strip()
    return text


def _built_all(element: Element, depth: int) -> Iterator[Json]:
    for child in element:
        yield _built(child, depth + 1)


def _built(element: Element, depth: int) -> Json:
    name = "mrow" if element.tag in _AS_ROW else element.tag
    if name not in _CHILDREN or depth > _DEEPEST:
        raise _UnfitError
    children: list[Json] = [*_built_all(element, depth)]
    if _CHILDREN[name] not in {None, len(children)}:
        raise _UnfitError
    text = [_ENTITY.sub(_character, element.text)] if element.text else []
    attributes: dict[str, Json] = {
        key: value for key, value in element.attrib.items() if value in _ATTRIBUTES.get(key, ())
    }
    return [name, attributes, *text, *children]


def _character(entity: re.Match[str]) -> str:
    """Return the sign of an entity, which the library writes as text."""
    return chr(int(entity[1], 16))

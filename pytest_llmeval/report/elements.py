"""A page's markup as a tree, for a script that builds elements and parses no HTML.

What a template has escaped is a text here again.
"""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Final

from pytest_llmeval.records import Json

_VOID: Final = frozenset(
    {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}
)
"""HTML elements without an end."""

_CAMEL: Final = {"viewbox": "viewBox", "preserveaspectratio": "preserveAspectRatio"}
"""Attributes of SVG as they are written; the parser gives all in lower case."""


def elements_of(markup: str, *names: str) -> list[Json]:
    """Return the outermost elements called one of `names`, each ``[name, attributes, children]``.

    A child is such a list or a text; blanks that only part elements are left out. Without names:
    all outermost elements.
    """
    reader = _Reader()
    reader.feed(markup)
    reader.close()
    return list(_found(reader.root, frozenset(names)))


def _found(children: list[Json], names: frozenset[str]) -> list[Json]:
    found: list[Json] = []
    for child in children:
        if isinstance(child, list):
            below = child[2]
            if not names or child[0] in names:
                found.append(child)
            elif isinstance(below, list):
                found += _found(below, names)
    return found


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root: list[Json] = []
        self._open: list[tuple[str, list[Json]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        children = self._add(tag, attrs)
        if tag not in _VOID:
            self._open.append((tag, children))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._add(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if any(name == tag for name, _ in self._open):
            while self._open.pop()[0] != tag:
                pass

    def handle_data(self, data: str) -> None:
        if data.strip() or "\n" not in data:
            self._inside().append(data)

    def _add(self, tag: str, attrs: list[tuple[str, str | None]]) -> list[Json]:
        children: list[Json] = []
        given: dict[str, Json] = {_CAMEL.get(name, name): value or "" for name, value in attrs}
        self._inside().append([tag, given, children])
        return children

    def _inside(self) -> list[Json]:
        return self._open[-1][1] if self._open else self.root

"""Rows of a query as text, in the notation of the answers (SLDP), so that models can copy values.

Points read ``POINT(x y z)``; plain words stand bare, all other strings in double quotes. A node
shows its symbol, label and properties, a path the symbols along it. The text is cut to limits, and
its last line names the limit that cut it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

MAX_ROWS: Final = 1_000
MAX_CHARACTERS: Final = 40_000
"""Most characters of all rows together, some 15,000 tokens."""
MAX_DEPTH: Final = 16
"""Most levels of lists and maps inside a value."""

SYMBOL: Final = "nodeSymbol"
"""The property that names a node."""

_SIGNIFICANT_DIGITS: Final = 9
_BARE = re.compile(r"[^\W\d]\w*|\d+[^\W\d]\w*")
_ORDERING = re.compile(r"\border\s+by\b|\bunwind\b", re.IGNORECASE)
_NUMBERS = re.compile(r"(\d+)")


@dataclass(frozen=True, slots=True)
class PointValue:
    """A point's coordinates."""

    coordinates: Sequence[float]


@dataclass(frozen=True, slots=True)
class NodeValue:
    """A node's labels and properties."""

    labels: Sequence[str]
    properties: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class RelationshipValue:
    """A relationship's type and properties."""

    type: str
    properties: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class PathValue:
    """A path: its nodes, and for each step the relationship and whether it is walked forwards."""

    nodes: Sequence[NodeValue]
    steps: Sequence[tuple[RelationshipValue, bool]]


GraphValue: TypeAlias = PointValue | NodeValue | RelationshipValue | PathValue


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsText:
    """Rows as text.

    Attributes:
        shown: number of rows in the text.
        cut: the limits that shortened it, None if none did.
        seconds: how long the database took.
    """

    text: str
    shown: int
    cut: str | None
    seconds: float = 0.0


class RowsWriter:
    """Builds the text of rows, one row after the other, until a limit is reached."""

    def __init__(
        self,
        columns: Sequence[str],
        *,
        convert: Callable[[object], GraphValue | None] = lambda _: None,
        max_rows: int = MAX_ROWS,
        max_characters: int = MAX_CHARACTERS,
    ) -> None:
        """Begin the text with the names of the columns.

        Args:
            columns: the names.
            convert: turns a value of a driver's type into one of ours; None for other types.
            max_rows: most rows of the text.
            max_characters: most characters of the text, without its last line.
        """
        self._convert, self._max_rows, self._max_characters = convert, max_rows, max_characters
        self._room = max_characters
        self._lines: list[str] = []
        self._too_deep = False
        self._head, complete = self._line(
            f" | {_column(name)}" if index else _column(name) for index, name in enumerate(columns)
        )
        self._cut = None if complete else f"{max_characters} characters"

    def add(self, row: Iterable[object]) -> bool:
        """Append a row; return False when it no longer fits, and then none after it will."""
        if self._cut is None and len(self._lines) >= self._max_rows:
            self._cut = f"{self._max_rows} rows"
        if self._cut is not None:
            return False
        line, complete = self._line(
            piece for index, value in enumerate(row) for piece in self._cell(index, value)
        )
        # A first row that is too long alone is shown as far as it goes; a later one is left out
        # whole.
        if complete or not self._lines:
            self._lines.append(line)
        if not complete:
            self._cut = f"{self._max_characters} characters"
        return complete

    def finish(self, *, ordered: bool) -> RowsText:
        """Return the text.

        Args:
            ordered: whether the order of the rows means something. Otherwise they are sorted, so
                that the text is the same on every engine.
        """
        lines = self._lines if ordered else sorted(self._lines, key=natural)
        shown = len(lines)
        count = "no rows" if not shown else "1 row" if shown == 1 else f"{shown} rows"
        remarks = [
            count
            if self._cut is None
            else f"cut: {count} shown, {self._cut} is the limit; there is more"
        ]
        if self._too_deep:
            remarks.append(f"… stands for what lies deeper than {MAX_DEPTH} levels")
        # Without rows not every engine tells the columns; the text is the same on all.
        head = [self._head] if self._head and (lines or self._cut) else []
        cuts = [self._cut, f"{MAX_DEPTH} levels" if self._too_deep else None]
        return RowsText(
            text="\n".join([*head, *lines, f"({'; '.join(remarks)})"]),
            shown=shown,
            cut=", ".join(filter(None, cuts)) or None,
        )

    def _line(self, pieces: Iterable[str]) -> tuple[str, bool]:
        """Join the pieces as far as there is room; return whether all of them fitted."""
        taken = []
        for piece in pieces:
            taken.append(piece[: self._room])
            self._room -= len(piece)
            if self._room < 0:
                self._room = 0
                return "".join([*taken, "…"]), False
        return "".join(taken), True

    def _cell(self, index: int, value: object) -> Iterator[str]:
        if index:
            yield " | "
        yield from self._pieces(value, 0)

    def _pieces(self, value: object, depth: int) -> Iterator[str]:
        """Yield the text of a value in pieces.

        The caller stops taking pieces when there is no room, so a huge value costs no more.
        """
        if depth > MAX_DEPTH:
            self._too_deep = True
            yield "…"
        elif type(value) is list:
            yield from self._sequence("[", (("", item) for item in value), "]", depth)
        elif type(value) is dict:
            yield from self._sequence(
                "{", ((f"{_string(str(key))}: ", item) for key, item in value.items()), "}", depth
            )
        elif isinstance(value, NodeValue):
            yield from self._node(value, depth)
        elif isinstance(value, RelationshipValue):
            yield f"[:{value.type}"
            yield from self._properties(value.properties, depth)
            yield "]"
        elif isinstance(value, PathValue):
            yield from _path(value)
        elif (converted := self._convert(value)) is not None and not isinstance(
            converted, PointValue
        ):
            yield from self._pieces(converted, depth)
        else:
            yield _scalar(value if converted is None else converted)

    def _sequence(
        self, start: str, items: Iterable[tuple[str, object]], end: str, depth: int
    ) -> Iterator[str]:
        yield start
        for index, (key, item) in enumerate(items):
            yield f", {key}" if index else key
            yield from self._pieces(item, depth + 1)
        yield end

    def _node(self, node: NodeValue, depth: int) -> Iterator[str]:
        yield f"({_symbol(node)}{''.join(f':{label}' for label in node.labels)}"
        yield from self._properties(
            {key: node.properties[key] for key in node.properties if key != SYMBOL}, depth
        )
        yield ")"

    def _properties(self, properties: Mapping[str, object], depth: int) -> Iterator[str]:
        if properties:
            yield " "
            yield from self._pieces(dict(sorted(properties.items())), depth + 1)


def rows_text(
    columns: Sequence[str], rows: Iterable[Iterable[object]], *, ordered: bool = True
) -> RowsText:
    """Return rows of plain values as text, within the default limits."""
    writer = RowsWriter(columns)
    for row in rows:
        if not writer.add(row):
            break
    return writer.finish(ordered=ordered)


def keeps_order(cypher: str) -> bool:
    """Return whether a query's rows may have a meaningful order, by ORDER BY or UNWIND."""
    return _ORDERING.search(cypher) is not None


def _scalar(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return _number(value)
        case PointValue():
            return f"POINT({' '.join(map(_number, value.coordinates))})"
        case _:
            return _string(str(value))


def _number(value: float) -> str:
    """Return a number with nine significant digits, always with a point or an exponent."""
    if not math.isfinite(value):
        return _string(str(value))
    text = f"{value + 0.0:.{_SIGNIFICANT_DIGITS}g}"
    return text if "." in text or "e" in text else f"{text}.0"


def _string(text: str) -> str:
    """Return a word as it is, anything else in double quotes."""
    text = text[: MAX_CHARACTERS + 1]
    if _BARE.fullmatch(text) and text not in {"null", "true", "false"} and not _is_number(text):
        return text
    return json.dumps(text, ensure_ascii=False)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _column(name: str) -> str:
    return name if name.isprintable() and "|" not in name else json.dumps(name)


def _symbol(node: NodeValue) -> str:
    symbol = node.properties.get(SYMBOL)
    return _string(symbol) if isinstance(symbol, str) else ""


def _path(path: PathValue) -> Iterator[str]:
    yield f"({_symbol(path.nodes[0])})"
    for (relationship, forwards), node in zip(path.steps, path.nodes[1:], strict=True):
        arrow = f"-[:{relationship.type}]->" if forwards else f"<-[:{relationship.type}]-"
        yield f"{arrow}({_symbol(node)})"


def natural(text: str) -> list[str | tuple[int, str]]:
    """Return a sort key that puts O2 before O10, however many digits there are."""
    return [
        (len(part.lstrip("0")), part.lstrip("0")) if index % 2 else part
        for index, part in enumerate(_NUMBERS.split(text))
    ]

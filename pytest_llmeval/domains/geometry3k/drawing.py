"""Auxiliary constructions that a text model describes in JSON, to be drawn over a diagram."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import Final, NoReturn, TypeAlias

from pytest_llmeval.records import Json

REPLY_LIMIT: Final = 20_000
"""Most characters of a reply; a drawing of all allowed elements needs fewer."""

ELEMENT_LIMIT: Final = 40
"""Most points, most lines and most circles of a drawing."""

LABEL: Final = re.compile(r"[A-Z0-9']{1,3}")
"""Form of a point's label, of characters that `canvas` can draw."""

DRAWING_INSTRUCTIONS: Final = """\
Do not answer with a picture: describe only what is to be ADDED, and it will be drawn in red \
over the original diagram.
Reply with exactly one JSON object and nothing else:
{{"points": [{{"label": "M", "at": [x, y]}}],
 "lines": [{{"from": [x, y], "to": [x, y]}}],
 "circles": [{{"center": [x, y], "radius": r}}]}}
Coordinates are pixels of the diagram, which is {width} wide and {height} high; [0, 0] is its \
top left corner and y
grows downwards. "from", "to" and "center" may also name a label of "points"; a
label is one to three capital letters or digits. Nothing may leave the diagram."""
"""Text after the task's prompt for drawing models (str.format fields: width, height)."""

Position: TypeAlias = tuple[float, float]
"""x and y in pixels."""

_FENCED: Final = re.compile(r"```(?:json)?[ \t]*\n(?P<object>[^`]*)```", re.IGNORECASE)


class DrawingError(ValueError):
    """Invalid drawing in a reply; the message names the part that is wrong."""


def _refuse(problem: str) -> NoReturn:
    raise DrawingError(problem)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """Elements to draw; positions are (x, y) in pixels from the top left corner.

    Attributes:
        points: label and position.
        lines: segments, by their ends.
        circles: centre and radius.
    """

    points: tuple[tuple[str, Position], ...] = ()
    lines: tuple[tuple[Position, Position], ...] = ()
    circles: tuple[tuple[Position, float], ...] = ()


def parse_drawing(reply: str, *, width: int, height: int) -> Drawing:
    """Return the drawing that `reply` describes for a diagram of `width` x `height` pixels.

    The reply is a JSON object, alone or in the reply's only code fence. Unknown keys are refused,
    because what they mean would not be drawn.

    Raises:
        DrawingError: the reply describes no drawing, or one that leaves the diagram.
    """
    return _Canvas(width, height).drawing(_json_object(reply))


def _json_object(reply: str) -> dict[str, Json]:
    if len(reply) > REPLY_LIMIT:
        _refuse(f"the reply has {len(reply)} characters, more than {REPLY_LIMIT}")
    fenced = _FENCED.findall(reply)
    text = fenced[0] if len(fenced) == 1 else reply
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        _refuse(f"the reply is no JSON object: {error}")
    if not isinstance(data, dict):
        _refuse(f"the reply is no JSON object but {type(data).__name__}")
    return data


class _Canvas:
    """Reads the elements of a drawing, and refuses those that leave the canvas."""

    def __init__(self, width: int, height: int) -> None:
        self._width, self._height = width, height
        self._named: dict[str, Position] = {}

    def drawing(self, data: dict[str, Json]) -> Drawing:
        if unknown := sorted(data.keys() - {"points", "lines", "circles"}):
            _refuse(f"unknown key {unknown[0]!r}; a drawing has points, lines and circles")
        points = tuple(self._point(item) for item in _elements(data, "points", {"label", "at"}))
        self._named = dict(points)
        if len(self._named) < len(points):
            _refuse("two points have the same label")
        drawing = Drawing(
            points=points,
            lines=tuple(self._line(item) for item in _elements(data, "lines", {"from", "to"})),
            circles=tuple(
                self._circle(item) for item in _elements(data, "circles", {"center", "radius"})
            ),
        )
        if drawing == Drawing():
            _refuse("the drawing adds nothing")
        return drawing

    def _point(self, item: dict[str, Json]) -> tuple[str, Position]:
        label = item["label"]
        if not isinstance(label, str) or not LABEL.fullmatch(label):
            _refuse(f"label {label!r:.40} is not one to three of A-Z, 0-9 and '")
        return label, self._position(item["at"])

    def _line(self, item: dict[str, Json]) -> tuple[Position, Position]:
        return self._position(item["from"]), self._position(item["to"])

    def _circle(self, item: dict[str, Json]) -> tuple[Position, float]:
        (x, y), radius = self._position(item["center"]), _number(item["radius"])
        room = min(x, y, self._width - x, self._height - y)
        if not 0 < radius <= room:
            _refuse(
                f"a circle of radius {radius:g} around [{x:g}, {y:g}] leaves the canvas or is empty"
            )
        return (x, y), radius

    def _position(self, value: Json) -> Position:
        if isinstance(value, str):
            if value not in self._named:
                _refuse(f"no point is labelled {value!r:.40}")
            return self._named[value]
        if not isinstance(value, list) or len(value) != 2:  # noqa: PLR2004 - x and y
            _refuse(f"{value!r:.40} is neither [x, y] nor a point's label")
        x, y = _number(value[0]), _number(value[1])
        if not (0 <= x <= self._width and 0 <= y <= self._height):
            _refuse(f"[{x:g}, {y:g}] lies outside the canvas of {self._width} x {self._height}")
        return x, y


def _elements(data: dict[str, Json], name: str, keys: set[str]) -> list[dict[str, Json]]:
    items = data.get(name, [])
    if not isinstance(items, list) or len(items) > ELEMENT_LIMIT:
        _refuse(f"{name} is no list of at most {ELEMENT_LIMIT} elements")
    for item in items:
        if not isinstance(item, dict) or item.keys() != keys:
            _refuse(f"{item!r:.80} in {name} does not have the keys {', '.join(sorted(keys))}")
    return [item for item in items if isinstance(item, dict)]


def _number(value: Json) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        _refuse(f"{value!r:.40} is no number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        _refuse("a coordinate is not finite")
    return number

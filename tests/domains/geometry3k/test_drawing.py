"""A drawing is read strictly: what leaves the canvas or is no drawing is told, never drawn."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmeval.domains.geometry3k.drawing import Drawing, DrawingError, parse_drawing


def parse(data: Any) -> Drawing:
    """Parse a reply of that JSON for a canvas of 400 x 300."""
    return parse_drawing(json.dumps(data), width=400, height=300)


def test_points_lines_and_circles_are_read() -> None:
    drawing = parse(
        {
            "points": [{"label": "M", "at": [200, 150]}],
            "lines": [{"from": "M", "to": [0, 0.5]}],
            "circles": [{"center": "M", "radius": 150}],
        }
    )
    assert drawing == Drawing(
        points=(("M", (200, 150)),), lines=(((200, 150), (0, 0.5)),), circles=(((200, 150), 150),)
    )


@pytest.mark.parametrize(
    "reply",
    [
        '{"lines": [{"from": [1, 2], "to": [3, 4]}]}',
        '```json\n{"lines": [{"from": [1, 2], "to": [3, 4]}]}\n```',
        (
            "The altitude helps.\n"
            '```\n{"lines": [{"from": [1, 2], "to": [3, 4]}]}\n```\nIt is drawn from C.'
        ),
    ],
    ids=["bare", "fenced", "fence among prose"],
)
def test_the_object_stands_alone_or_in_the_only_fence(reply: str) -> None:
    assert parse_drawing(reply, width=400, height=300).lines == (((1, 2), (3, 4)),)


def test_the_canvas_reaches_to_its_edges() -> None:
    parse(
        {
            "lines": [{"from": [0, 0], "to": [400, 300]}],
            "circles": [{"center": [200, 150], "radius": 150}],
        }
    )


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ({}, "adds nothing"),
        ({"points": []}, "adds nothing"),
        ([], "no JSON object but list"),
        (
            {"lines": [{"from": [0, 0], "to": [401, 0]}]},
            r"\[401, 0\] lies outside the canvas of 400 x 300",
        ),
        ({"lines": [{"from": [0, -1], "to": [1, 0]}]}, "outside the canvas"),
        ({"points": [{"label": "M", "at": [0, 301]}]}, "outside the canvas"),
        ({"circles": [{"center": [10, 10], "radius": 11}]}, "leaves the canvas"),
        ({"circles": [{"center": [10, 10], "radius": 0}]}, "or is empty"),
        ({"circles": [{"center": [10, 10], "radius": -3}]}, "or is empty"),
        ({"lines": [{"from": "Q", "to": [1, 1]}]}, "no point is labelled 'Q'"),
        ({"lines": [{"from": [1, 1]}]}, "does not have the keys from, to"),
        ({"lines": [{"from": [1, 1], "to": [2, 2], "style": "dashed"}]}, "does not have the keys"),
        ({"lines": ["AB"]}, "does not have the keys"),
        ({"lines": {"from": [1, 1]}}, "no list of at most 40"),
        ({"lines": [{"from": [1, 1], "to": [2, 2]}] * 41}, "no list of at most 40"),
        ({"arrows": []}, "unknown key 'arrows'"),
        ({"lines": [{"from": [1, 1, 1], "to": [2, 2]}]}, "neither"),
        ({"lines": [{"from": 1, "to": [2, 2]}]}, "neither"),
        ({"lines": [{"from": ["1", 1], "to": [2, 2]}]}, "'1' is no number"),
        ({"lines": [{"from": [True, 1], "to": [2, 2]}]}, "True is no number"),
        ({"lines": [{"from": [float("nan"), 1], "to": [2, 2]}]}, "not finite"),
        ({"lines": [{"from": [float("inf"), 1], "to": [2, 2]}]}, "not finite"),
        ({"lines": [{"from": [10**400, 1], "to": [2, 2]}]}, "not finite"),
        (
            {"points": [{"label": "M", "at": [1, 1]}, {"label": "M", "at": [9, 9]}]},
            "two points have the same label",
        ),
        ({"points": [{"label": "", "at": [1, 1]}]}, "label"),
        ({"points": [{"label": "a very long label", "at": [1, 1]}]}, "label"),
        ({"points": [{"label": "\x1b[2J", "at": [1, 1]}]}, "label"),
        ({"points": [{"label": 7, "at": [1, 1]}]}, "label"),
    ],
    ids=lambda value: str(value)[:50],
)
def test_what_cannot_be_drawn_is_named(data: Any, problem: str) -> None:
    with pytest.raises(DrawingError, match=problem):
        parse(data)


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "I would draw the altitude.",
        "{",
        "[" * 15_000,
        '{"lines": []}' * 2,
        "9" * 15_000,
        " " * 30_000,
    ],
    ids=["empty", "prose", "open", "deep", "two objects", "digits", "long"],
)
def test_a_reply_that_is_no_json_object_is_no_drawing(reply: str) -> None:
    with pytest.raises(DrawingError):
        parse_drawing(reply, width=400, height=300)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["points", "lines", "circles", "label", "at", "from", "to", "center", "radius"]
            ),
            inner,
        )
    ),
)


@given(JSON)
def test_any_json_is_a_drawing_within_the_canvas_or_an_error(data: Any) -> None:
    try:
        drawing = parse(data)
    except DrawingError:
        return
    places = [*(at for _, at in drawing.points), *(end for line in drawing.lines for end in line)]
    assert all(0 <= x <= 400 and 0 <= y <= 300 for x, y in places)

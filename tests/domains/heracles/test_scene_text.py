"""A scene graph as text: complete in the full form, half as long in the short one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_llmeval.domains.heracles import scene_text as module
from pytest_llmeval.domains.heracles.scene_graph import (
    Label,
    Node,
    Relationship,
    SceneGraph,
    read_scene,
)
from pytest_llmeval.domains.heracles.scene_text import read_scene_text, scene_text
from pytest_llmeval.errors import TaskError

HOUSE = Path(__file__).parents[3] / "fixtures" / "heracles" / "scene.json"


def room(symbol: str) -> Node:
    return Node(
        label="Room",
        symbol=symbol,
        properties={"nodeSymbol": symbol, "center": (1.0, 2.456, -0.25), "class": "tool shed"},
    )


OBJECT = Node(
    label="Object",
    symbol="O1",
    properties={
        "nodeSymbol": "O1",
        "center": (0.125, 1.0, 2.0),
        "bbox_center": (0.0, 0.0, 0.0),
        "bbox_dim": (1.0, 1.0, 1.0),
        "name": "Ada's",
        "class": "axe",
    },
)


def connected(source: str, target: str) -> Relationship:
    return Relationship(
        type="ROOM_CONNECTED",
        source=source,
        target=target,
        source_label="Room",
        target_label="Room",
    )


PLACE = Node(
    label="MeshPlace", symbol="P7", properties={"nodeSymbol": "P7", "center": (0.0, 0.0, 0.0)}
)
SCENE = SceneGraph(
    nodes=(room("R2"), OBJECT, PLACE, room("R10")),
    relationships=(
        connected("R2", "R10"),
        connected("R10", "R2"),
        Relationship(
            type="CONTAINS", source="R2", target="P7", source_label="Room", target_label="MeshPlace"
        ),
        Relationship(
            type="CONTAINS",
            source="P7",
            target="O1",
            source_label="MeshPlace",
            target_label="Object",
        ),
    ),
)
FULL = """\
Object nodes
nodeSymbol | bbox_center | bbox_dim | center | class | name
O1 | POINT(0.0 0.0 0.0) | POINT(1.0 1.0 1.0) | POINT(0.125 1.0 2.0) | axe | "Ada's"
(1 row)

MeshPlace nodes
nodeSymbol | center
P7 | POINT(0.0 0.0 0.0)
(1 row)

Room nodes
nodeSymbol | center | class
R2 | POINT(1.0 2.456 -0.25) | "tool shed"
R10 | POINT(1.0 2.456 -0.25) | "tool shed"
(2 rows)

CONTAINS relationships
from | to
P7 | [O1]
R2 | [P7]
(2 rows)

ROOM_CONNECTED relationships
from | to
R2 | [R10]
R10 | [R2]
(2 rows)"""
SHORT = """\
Object nodes
nodeSymbol | class | center
O1 | axe | POINT(0.12 1.0 2.0)
(1 row)

MeshPlace nodes
nodeSymbol | center
P7 | POINT(0.0 0.0 0.0)
(1 row)

Room nodes
nodeSymbol | class | center
R2 | "tool shed" | POINT(1.0 2.46 -0.25)
R10 | "tool shed" | POINT(1.0 2.46 -0.25)
(2 rows)

CONTAINS relationships
from | to
P7 | [O1]
R2 | [P7]
(2 rows)

ROOM_CONNECTED relationships, both ways, each listed once
from | to
R10 | [R2]
(1 row)"""


NO_PLACES = """\
Object nodes
nodeSymbol | class | center
O1 | axe | POINT(0.12 1.0 2.0)
(1 row)

Room nodes
nodeSymbol | class | center
R2 | "tool shed" | POINT(1.0 2.46 -0.25)
R10 | "tool shed" | POINT(1.0 2.46 -0.25)
(2 rows)

CONTAINS relationships
from | to
R2 | [O1]
(1 row)

ROOM_CONNECTED relationships, both ways, each listed once
from | to
R10 | [R2]
(1 row)"""


def test_the_full_form_holds_everything_and_the_short_one_what_most_questions_need() -> None:
    assert scene_text(SCENE, "full") == FULL
    assert scene_text(SCENE, "short") == SHORT


def test_without_places_a_room_holds_what_lies_on_its_places() -> None:
    assert scene_text(SCENE, "no_places") == NO_PLACES


def test_without_places_containment_is_what_cypher_finds_over_any_number_of_steps() -> None:
    """Every object, room and building of the house, by an independent walk over its edges."""
    scene = read_scene(HOUSE)
    labels = {node.symbol: node.label for node in scene.nodes}
    steps = {(edge.source, edge.target) for edge in scene.relationships if edge.type == "CONTAINS"}
    held = {step for step in steps if labels[step[0]] == "Building"}
    for room, place in steps:
        if labels[room] == "Room":
            held |= {(room, target) for source, target in steps if source == place}
    text = scene_text(scene, "no_places")
    table = text.partition("CONTAINS relationships\nfrom | to\n")[2].partition("\n(")[0]
    told = {
        (source, target)
        for source, _, targets in (line.partition(" | ") for line in table.splitlines())
        for target in targets.strip("[]").split(", ")
    }
    assert told == held
    assert not re.search(r"\b[pP]\d+\b|PLACE", text)
    assert len(text) < len(scene_text(scene, "short")) / 2


def test_places_in_one_another_and_in_circles_are_passed() -> None:
    def inside(source: str, target: str) -> Relationship:
        kinds: dict[str, Label] = {"R": "Room", "P": "MeshPlace", "p": "Place", "O": "Object"}
        return Relationship(
            type="CONTAINS",
            source=source,
            target=target,
            source_label=kinds[source[0]],
            target_label=kinds[target[0]],
        )

    edges = [inside("R2", "p1"), inside("p1", "P7"), inside("P7", "p1"), inside("P7", "O1")]
    scene = SceneGraph(nodes=SCENE.nodes, relationships=(*edges, inside("p9", "O1")))
    assert "R2 | [O1]\n(1 row)" in scene_text(scene, "no_places")


def test_the_order_of_nodes_and_relationships_does_not_matter() -> None:
    shuffled = SceneGraph(nodes=SCENE.nodes[::-1], relationships=SCENE.relationships[::-1])
    assert scene_text(shuffled, "full") == FULL
    assert scene_text(shuffled, "no_places") == NO_PLACES


@pytest.mark.parametrize("form", ["short", "full"])
def test_every_node_of_a_file_stands_in_its_text(form: module.Form) -> None:
    text = read_scene_text(HOUSE, form)
    scene = read_scene(HOUSE)
    assert {line.partition(" | ")[0] for line in text.splitlines()} >= {
        node.symbol for node in scene.nodes
    }
    contained = {edge.target for edge in scene.relationships if edge.type == "CONTAINS"}
    assert contained <= set(
        text.partition("CONTAINS relationships")[2]
        .replace("[", " ")
        .replace("]", " ")
        .replace(",", " ")
        .split()
    )


def test_a_scene_too_large_for_a_prompt_is_refused_with_the_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "scene.json"
    file.write_bytes(HOUSE.read_bytes())
    monkeypatch.setattr(module, "MAX_CHARACTERS", 10_000)
    with pytest.raises(
        TaskError, match=r"scene\.json: the scene has \d+ characters .* take the form short"
    ):
        read_scene_text(file, "full")
    with pytest.raises(TaskError, match="take the form no_places"):
        read_scene_text(file, "short")
    monkeypatch.setattr(module, "MAX_CHARACTERS", 1_000)
    with pytest.raises(TaskError, match="let the model query it"):
        read_scene_text(file, "no_places")

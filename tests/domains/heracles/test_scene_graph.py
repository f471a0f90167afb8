from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval.domains.heracles.scene_graph import (
    SceneGraph,
    read_class_names,
    read_scene,
    scene_from_json,
    symbol_of,
)
from pytest_llmeval.errors import TaskError


def node(symbol: str, layer: int, partition: int = 0, **attributes: Any) -> dict[str, Any]:
    identity = (ord(symbol[0]) << 56) | int(symbol[1:])
    return {
        "id": identity,
        "layer": layer,
        "partition": partition,
        "attributes": {"position": [1.0, 2.0, 3.0], **attributes},
    }


def an_object(symbol: str, **attributes: Any) -> dict[str, Any]:
    box = {"type": "AABB", "dimensions": [1, 2, 3], "world_P_center": [1.0, 2.0, 3.5]}
    return node(symbol, 2, bounding_box=box, name="", **attributes)


def edge(source: dict[str, Any], target: dict[str, Any]) -> dict[str, Any]:
    return {"source": source["id"], "target": target["id"], "info": {}}


def triples(scene: SceneGraph) -> list[tuple[str, str, str]]:
    return [(one.type, one.source, one.target) for one in scene.relationships]


OBJECT, PLACE, MESH_PLACE, ROOM, BUILDING = (
    an_object("O12", semantic_label=1),
    node("p3", 3),
    node("P754", 3, 1, semantic_label=0),
    node("R1", 4, semantic_label=0, name="R1"),
    node("B0", 5, semantic_label=9),
)
SPACES = {"_l2p0": [[0, "floor"], [1, "chair"]], "_l4p0": [[0, "lounge"]]}


def graph(
    *nodes: dict[str, Any], edges: Any = (), spaces: Any = SPACES, **more: Any
) -> dict[str, Any]:
    return {"nodes": list(nodes), "edges": list(edges), "metadata": {"labelspaces": spaces}, **more}


def test_every_layer_gets_its_label_and_properties() -> None:
    scene = scene_from_json(graph(OBJECT, PLACE, MESH_PLACE, ROOM, BUILDING))
    center = (1.0, 2.0, 3.0)
    assert {one.label: dict(one.properties) for one in scene.nodes} == {
        "Object": {
            "nodeSymbol": "O12",
            "center": center,
            "bbox_center": (1.0, 2.0, 3.5),
            "bbox_dim": (1.0, 2.0, 3.0),
            "class": "chair",
            "name": "",
        },
        "Place": {"nodeSymbol": "p3", "center": center},
        "MeshPlace": {"nodeSymbol": "P754", "center": center, "class": "floor"},
        "Room": {"nodeSymbol": "R1", "center": center, "class": "lounge"},
        "Building": {"nodeSymbol": "B0", "center": center},
    }


def test_an_edge_between_layers_is_contains_from_above_whichever_way_it_is_stored() -> None:
    scene = scene_from_json(
        graph(OBJECT, PLACE, ROOM, edges=[edge(OBJECT, PLACE), edge(ROOM, PLACE)])
    )
    assert triples(scene) == [("CONTAINS", "p3", "O12"), ("CONTAINS", "R1", "p3")]


def test_an_edge_inside_a_layer_is_stored_in_both_directions_and_once() -> None:
    other = node("R2", 4)
    scene = scene_from_json(graph(ROOM, other, edges=[edge(ROOM, other), edge(other, ROOM)]))
    assert triples(scene) == [("ROOM_CONNECTED", "R1", "R2"), ("ROOM_CONNECTED", "R2", "R1")]


def test_other_layers_and_their_edges_are_left_out() -> None:
    agent = node("a0", 2, 97)
    scene = scene_from_json(
        graph(agent, PLACE, MESH_PLACE, edges=[edge(PLACE, agent), edge(PLACE, MESH_PLACE)])
    )
    assert [one.symbol for one in scene.nodes] == ["p3", "P754"]
    assert triples(scene) == []


def test_layers_are_found_under_the_keys_that_the_file_gives_them() -> None:
    names = {"MESH_PLACES": {"layer": 20, "partition": 0}}
    scene = scene_from_json(graph(node("P1", 20), MESH_PLACE, layer_names=names))
    assert [(one.symbol, one.label) for one in scene.nodes] == [("P1", "MeshPlace")]


@pytest.mark.parametrize("space", [[[1, "chair"]], {"1": "chair"}, [("1", "chair")]])
def test_a_label_space_may_be_pairs_or_a_mapping(space: Any) -> None:
    (one,) = scene_from_json(graph(OBJECT, spaces={"_l2p0": space})).nodes
    assert one.properties["class"] == "chair"


def test_mesh_places_may_have_a_label_space_of_their_own() -> None:
    (one,) = scene_from_json(graph(MESH_PLACE, spaces={**SPACES, "_l3p1": [[0, "grass"]]})).nodes
    assert one.properties["class"] == "grass"


def test_a_class_that_has_no_name_is_absent() -> None:
    (one,) = scene_from_json(graph(an_object("O1", semantic_label=4_000_000))).nodes
    assert "class" not in one.properties


def test_symbols_are_a_letter_and_a_number() -> None:
    assert symbol_of((ord("P") << 56) | 59110) == "P59110"
    with pytest.raises(ValueError, match="no letter"):
        symbol_of(12)


def test_the_fingerprint_knows_content_and_not_order() -> None:
    edges = [edge(ROOM, PLACE), edge(PLACE, OBJECT)]
    one = scene_from_json(graph(OBJECT, PLACE, ROOM, edges=edges))
    assert (
        one.fingerprint
        == scene_from_json(graph(ROOM, PLACE, OBJECT, edges=edges[::-1])).fingerprint
    )
    moved = an_object("O12", semantic_label=1)
    moved["attributes"]["position"] = [1.0, 2.0, 3.0000000000000004]
    assert one.fingerprint != scene_from_json(graph(moved, PLACE, ROOM, edges=edges)).fingerprint
    assert (
        one.fingerprint != scene_from_json(graph(OBJECT, PLACE, ROOM, edges=edges[:1])).fingerprint
    )


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ({}, "'nodes' is missing"),
        ([], "not a scene graph"),
        (graph(OBJECT, OBJECT), "node O12 occurs twice"),
        (graph(node("R1", 4) | {"attributes": {}}), "'position' is missing"),
        (
            graph(node("R1", 4) | {"attributes": {"position": [1, 2]}}),
            "no point of three finite numbers",
        ),
        (
            graph(node("R1", 4) | {"attributes": {"position": [1, 2, float("nan")]}}),
            "no point of three",
        ),
        (graph(node("R1", 4) | {"attributes": {"position": "abc"}}), "could not convert"),
        (graph(ROOM, edges=[{"source": 1, "target": 2}]), "is missing"),
    ],
)
def test_a_file_that_is_no_scene_graph_is_told_as_the_tasks_fault(
    tmp_path: Path, data: Any, problem: str
) -> None:
    file = tmp_path / "scene.json"
    file.write_text(json.dumps(data))
    with pytest.raises(TaskError, match=problem) as caught:
        read_scene(file)
    assert str(file) in str(caught.value)


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, "\x00"])
def test_a_file_that_is_no_json_is_told_as_the_tasks_fault(tmp_path: Path, text: str) -> None:
    file = tmp_path / "scene.json"
    file.write_text(text)
    with pytest.raises(TaskError, match="cannot read the scene graph"):
        read_scene(file)


def test_a_missing_file_is_told_as_the_tasks_fault(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match="cannot read the scene graph"):
        read_scene(tmp_path / "none.json")


def test_the_class_names_are_those_of_the_files_label_spaces(tmp_path: Path) -> None:
    file = tmp_path / "scene.json"
    file.write_text(json.dumps(graph(OBJECT)))
    assert read_class_names(file) == {
        "Object": ["floor", "chair"],
        "MeshPlace": ["floor", "chair"],
        "Room": ["lounge"],
    }


def test_the_public_example_has_its_known_size(shared: Path) -> None:
    scene = read_scene(shared / "data" / "heracles" / "example_dsg.json")
    assert Counter(one.label for one in scene.nodes) == {"MeshPlace": 96, "Object": 65, "Room": 5}
    assert Counter(one.type for one in scene.relationships) == {
        "MESH_PLACE_CONNECTED": 472,
        "CONTAINS": 161,
        "ROOM_CONNECTED": 10,
    }

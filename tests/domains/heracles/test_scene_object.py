"""The scene graph as programs see it: the same as the one that databases are given."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmeval.domains.heracles.scene_graph import SceneGraph, scene_from_json
from pytest_llmeval.domains.heracles.scene_object import (
    DsgLayers,
    DynamicSceneGraph,
    NodeSymbol,
)

HOUSE = Path(__file__).parents[3] / "fixtures" / "heracles" / "scene.json"

LABELS = {
    DsgLayers.OBJECTS: "Object",
    DsgLayers.PLACES: "Place",
    DsgLayers.MESH_PLACES: "MeshPlace",
    DsgLayers.ROOMS: "Room",
    DsgLayers.BUILDINGS: "Building",
}
KINDS = (("O", 2, 0), ("p", 3, 0), ("P", 3, 1), ("R", 4, 0), ("B", 5, 0), ("a", 2, 97))


def loaded(data: dict[str, Any]) -> tuple[DynamicSceneGraph, SceneGraph]:
    return DynamicSceneGraph(data), scene_from_json(data)


def nodes_of(graph: DynamicSceneGraph) -> dict[str, tuple[str, tuple[float, ...]]]:
    return {
        str(node.id): (LABELS[layer.name], tuple(node.attributes.position))
        for layer in graph.layers
        for node in layer.nodes
    }


def edges_of(graph: DynamicSceneGraph) -> set[tuple[bool, str, str]]:
    """Return whether each edge contains, and its ends."""
    return {
        (True, str(node.id), str(child)) for node in graph.nodes for child in node.children()
    } | {(False, str(node.id), str(one)) for node in graph.nodes for one in node.siblings()}


def assert_same(graph: DynamicSceneGraph, scene: SceneGraph) -> None:
    assert nodes_of(graph) == {
        node.symbol: (node.label, node.properties["center"]) for node in scene.nodes
    }
    assert edges_of(graph) == {
        (edge.type == "CONTAINS", edge.source, edge.target) for edge in scene.relationships
    }
    for node in graph.nodes:
        for parent in node.parents():
            assert node.id in graph.get_node(parent).children()


@st.composite
def scenes(draw: st.DrawFn) -> dict[str, Any]:
    chosen = draw(st.lists(st.sampled_from(KINDS), max_size=8))
    nodes = [
        {
            "id": ord(letter) << 56 | index,
            "layer": layer,
            "partition": partition,
            "attributes": {
                "position": draw(st.tuples(*[st.floats(-9, 9)] * 3)),
                "bounding_box": {"dimensions": [1, 2, 3], "world_P_center": [0, 0, 0]},
            },
        }
        for index, (letter, layer, partition) in enumerate(chosen)
    ]
    ids = [node["id"] for node in nodes] or [0]
    pairs = st.tuples(st.sampled_from(ids), st.sampled_from(ids)).filter(lambda p: p[0] != p[1])
    drawn = draw(st.lists(pairs, max_size=12)) if len(ids) > 1 else []
    return {"nodes": nodes, "edges": [{"source": a, "target": b} for a, b in drawn]}


@settings(deadline=None)  # the first example loads what it needs
@given(scenes())
def test_any_graph_has_the_nodes_and_edges_of_its_database(data: dict[str, Any]) -> None:
    assert_same(*loaded(data))


def test_the_house_has_the_nodes_and_edges_of_its_database() -> None:
    assert_same(*loaded(json.loads(HOUSE.read_text("utf-8"))))


def test_a_real_scene_has_the_nodes_and_edges_of_its_database(shared: Path) -> None:
    file = shared / "data" / "heracles" / "example_dsg.json"
    assert_same(*loaded(json.loads(file.read_text("utf-8"))))


def test_classes_names_and_boxes_are_those_of_the_database() -> None:
    graph, scene = loaded(json.loads(HOUSE.read_text("utf-8")))
    spaces = graph.metadata.get()
    for node in scene.nodes:
        found = graph.get_node(NodeSymbol(node.symbol[0], int(node.symbol[1:])))
        space = spaces["room_labelspace" if node.label == "Room" else "labelspace"]
        label = getattr(found.attributes, "semantic_label", None)
        assert space.get(label) == node.properties.get("class")
        if node.label == "Object":
            assert found.attributes.name == node.properties["name"]
            box = found.attributes.bounding_box
            assert tuple(box.world_P_center) == node.properties["bbox_center"]
            assert tuple(box.dimensions) == node.properties["bbox_dim"]
            assert np.allclose(box.max - box.min, box.dimensions)
            assert box.volume() == pytest.approx(float(np.prod(box.dimensions)))


def test_an_id_is_a_number_whose_text_is_the_symbol() -> None:
    symbol = NodeSymbol("O", 12)
    assert (str(symbol), repr(symbol), symbol.category, symbol.category_id) == (
        "O12",
        "O12",
        "O",
        12,
    )
    assert symbol == symbol.value == 79 << 56 | 12
    assert NodeSymbol(symbol.value) == symbol


def test_what_is_not_there_is_a_key_error() -> None:
    graph = DynamicSceneGraph({"nodes": [], "edges": []})
    for ask in (
        lambda: graph.get_node(1),
        lambda: graph.get_layer("AGENTS"),
        lambda: graph.get_layer(DsgLayers.ROOMS).get_node(1),
    ):
        with pytest.raises(KeyError):
            ask()


def test_it_stands_alone() -> None:
    """A program that needs no position loads neither numpy nor the rest of the package."""
    code = (
        "import sys; from pytest_llmeval.domains.heracles import program_child; "
        "print([name for name in sys.modules if name in ('numpy', 'pydantic', 'msgspec', 'yaml')])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout == "[]\n"

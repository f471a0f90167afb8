"""A 3D scene graph as nodes and relationships, read from the JSON that spark_dsg writes.

Node ids carry a letter in their highest byte and a number below: ``79 << 56 | 12`` is written
``O12``. Layers become labels, edges between layers become CONTAINS from the higher to the lower,
edges inside a layer become the layer's own ``..._CONNECTED``, stored in both directions. Plain
`json` reads the file; the spark_dsg library is not needed.

Source: the Heracles loader, arXiv 2510.16643.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

from pytest_llmeval.errors import TaskError
from pytest_llmeval.files.json_file import MAX_BYTES
from pytest_llmeval.records import Json
from pytest_llmeval.safety.regular_files import read_regular

Label: TypeAlias = Literal["Object", "Place", "MeshPlace", "Room", "Building"]
"""Kind of a node, by the layer that it lies in."""

Point: TypeAlias = tuple[float, float, float]
"""Cartesian x, y, z in metres, in the frame of the map."""

Property: TypeAlias = str | Point
LayerKey: TypeAlias = tuple[int, int]

CONTAINS = "CONTAINS"
CONNECTED: dict[Label, str] = {
    "Object": "OBJECT_CONNECTED",
    "Place": "PLACE_CONNECTED",
    "MeshPlace": "MESH_PLACE_CONNECTED",
    "Room": "ROOM_CONNECTED",
    "Building": "BUILDING_CONNECTED",
}
"""Type of the relationship between neighbours, by label; its keys are all labels."""

# Name of the layer in the file, its label, and (layer, partition) in files that do not list their
# layers.
_LAYERS: tuple[tuple[str, Label, LayerKey], ...] = (
    ("OBJECTS", "Object", (2, 0)),
    ("PLACES", "Place", (3, 0)),
    ("MESH_PLACES", "MeshPlace", (3, 1)),
    ("ROOMS", "Room", (4, 0)),
    ("BUILDINGS", "Building", (5, 0)),
)
# Label spaces that name a label's classes; the first one that the file has counts. Mesh places
# share the one of the objects.
_LABEL_SPACES: dict[Label, tuple[str, ...]] = {
    "Object": ("_l2p0",),
    "MeshPlace": ("_l3p1", "_l2p0"),
    "Room": ("_l4p0",),
}
_INDEX_BITS = 56


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A node; `properties` are nodeSymbol, center and, by label, class, name and bounding box."""

    label: Label
    symbol: str
    properties: Mapping[str, Property]


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Relationship:
    """A directed relationship between two nodes, given by their symbols and labels."""

    type: str
    source: str
    target: str
    source_label: Label
    target_label: Label


@dataclass(frozen=True, kw_only=True)
class SceneGraph:
    """A scene as a graph database stores it."""

    nodes: tuple[Node, ...]
    relationships: tuple[Relationship, ...]

    @cached_property
    def fingerprint(self) -> str:
        """The sha256 of all nodes and relationships, whatever their order."""
        nodes = sorted(
            [node.label, node.symbol, sorted(node.properties.items())] for node in self.nodes
        )
        relationships = sorted([edge.type, edge.source, edge.target] for edge in self.relationships)
        text = json.dumps([nodes, relationships], separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def read_scene(path: Path) -> SceneGraph:
    """Return the scene in a spark_dsg JSON file.

    Raises:
        TaskError: the file cannot be read, or is no such graph.
    """
    data = _read(path)
    with _as_task_error(path):
        return scene_from_json(data)


def check_scene_file(path: Path) -> None:
    """Raise ValueError unless there is a file at `path`, a solver's option ``scene``."""
    if not path.is_file():
        msg = f"scene is {str(path)!r}, but there is no such file; name a spark_dsg JSON file"
        raise ValueError(msg)


@cache
def read_class_names(path: Path) -> dict[str, Json]:
    """Return the class names of each label in a spark_dsg JSON file: label to a list of texts.

    The names have the order of the file's label spaces; not every class needs to have nodes. A file
    is read once.

    Raises:
        TaskError: the file cannot be read, or is no scene graph.
    """
    data = _read(path)
    with _as_task_error(path):
        return {
            label: [*names.values()]
            for label, names in _class_names(data.get("metadata") or {}).items()
        }


def scene_from_json(data: Mapping[str, Any]) -> SceneGraph:
    """Return the scene in parsed spark_dsg JSON.

    Left out are nodes of other layers (agents, segments), edges to them, and edges between two
    partitions of one layer, which are neither containment nor neighbourhood.

    Raises:
        ValueError, KeyError, TypeError: the data are no scene graph.
    """
    labels = _labels_by_layer(data.get("layer_names") or {})
    spaces = _class_names(data.get("metadata") or {})
    nodes: dict[int, Node] = {}
    for item in data["nodes"]:
        label = labels.get(_layer_key(item))
        if label is None:
            continue
        if item["id"] in nodes:
            msg = f"node {symbol_of(item['id'])} occurs twice"
            raise ValueError(msg)
        nodes[item["id"]] = _node(label, item["id"], item["attributes"], spaces)
    depths = {item["id"]: item["layer"] for item in data["nodes"]}
    return SceneGraph(
        nodes=tuple(nodes.values()),
        relationships=tuple(_relationships(data["edges"], nodes, depths)),
    )


def _read(path: Path) -> Any:  # noqa: ANN401 - JSON from the outside
    try:
        return json.loads(read_regular(path, max_bytes=MAX_BYTES))
    except (OSError, ValueError, RecursionError) as error:
        problem = f"cannot read the scene graph: {error}"
        raise TaskError(problem, file=path) from error


@contextmanager
def _as_task_error(path: Path) -> Iterator[None]:
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        what = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)
        problem = f"not a scene graph as spark_dsg saves it: {what}"
        raise TaskError(problem, file=path) from error


def symbol_of(node_id: int) -> str:
    """Return the symbol of a node id, such as ``O12``; ValueError when it holds no letter."""
    letter = chr(node_id >> _INDEX_BITS)
    if not letter.isalpha():
        msg = f"node id {node_id} carries no letter in its highest byte"
        raise ValueError(msg)
    return f"{letter}{node_id & ((1 << _INDEX_BITS) - 1)}"


def _layer_key(item: Mapping[str, Any]) -> LayerKey:
    return item["layer"], item.get("partition", 0)


def _labels_by_layer(layer_names: Mapping[str, Any]) -> dict[LayerKey, Label]:
    """Return the label of each layer, by the file's list of layers where it has one."""
    return {
        _layer_key(layer_names[name]) if name in layer_names else default: label
        for name, label, default in _LAYERS
    }


def _class_names(metadata: Mapping[str, Any]) -> dict[Label, dict[int, str]]:
    """Return each label's class names by number; a label space is a list of pairs or a mapping."""
    spaces = metadata.get("labelspaces") or {}
    names: dict[Label, dict[int, str]] = {}
    for label, keys in _LABEL_SPACES.items():
        space: Any = next((spaces[key] for key in keys if key in spaces), [])
        pairs: Iterable[Sequence[Any]] = space.items() if isinstance(space, Mapping) else space
        names[label] = {int(number): str(name) for number, name in pairs}
    return names


def _node(
    label: Label,
    node_id: int,
    attributes: Mapping[str, Any],
    spaces: Mapping[Label, Mapping[int, str]],
) -> Node:
    symbol = symbol_of(node_id)
    properties: dict[str, Property] = {
        "nodeSymbol": symbol,
        "center": _point(attributes["position"], symbol),
    }
    if label == "Object":
        box = attributes["bounding_box"]
        properties["bbox_center"] = _point(box["world_P_center"], symbol)
        properties["bbox_dim"] = _point(box["dimensions"], symbol)
        properties["name"] = str(attributes.get("name", ""))
    name = spaces.get(label, {}).get(attributes.get("semantic_label", -1))
    if name is not None:
        properties["class"] = name
    return Node(label=label, symbol=symbol, properties=properties)


def _point(numbers: Sequence[float], symbol: str) -> Point:
    point = tuple(float(number) for number in numbers)
    if len(point) != len(("x", "y", "z")) or not all(map(math.isfinite, point)):
        msg = f"node {symbol}: {list(numbers)} is no point of three finite numbers"
        raise ValueError(msg)
    return cast("Point", point)


def _relationships(
    edges: Iterable[Mapping[str, Any]], nodes: Mapping[int, Node], depths: Mapping[int, int]
) -> Iterable[Relationship]:
    """Yield the relationships of the edges, each once, whichever way round an edge is stored."""
    seen: set[frozenset[int]] = set()
    for edge in edges:
        ends = sorted((edge["source"], edge["target"]), key=depths.__getitem__, reverse=True)
        if ends[0] == ends[1] or frozenset(ends) in seen or not all(end in nodes for end in ends):
            continue
        seen.add(frozenset(ends))
        upper, lower = (nodes[end] for end in ends)
        if depths[ends[0]] != depths[ends[1]]:
            yield _relationship(CONTAINS, upper, lower)
        elif upper.label == lower.label:
            yield _relationship(CONNECTED[upper.label], upper, lower)
            yield _relationship(CONNECTED[upper.label], lower, upper)


def _relationship(kind: str, source: Node, target: Node) -> Relationship:
    return Relationship(
        type=kind,
        source=source.symbol,
        target=target.symbol,
        source_label=source.label,
        target_label=target.label,
    )

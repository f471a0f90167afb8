"""The scene graph as programs see it that a model wrote: the names of the library spark_dsg.

It is read from the same JSON, and stands alone: in the sandbox, programs import it as `spark_dsg`.
Ids are numbers whose text is the symbol: ``str(node.id)`` is ``O12``. Nothing changes a graph.

Example::

    def solve_task(G):
        return {node.id for node in G.get_layer(DsgLayers.ROOMS).nodes}
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    import numpy as np

_INDEX_BITS = 56


class DsgLayers:
    """Names of the layers."""

    OBJECTS = "OBJECTS"
    PLACES = "PLACES"
    MESH_PLACES = "MESH_PLACES"
    ROOMS = "ROOMS"
    BUILDINGS = "BUILDINGS"


# Layer and partition in files that do not list their layers.
_LAYERS = {
    DsgLayers.OBJECTS: (2, 0),
    DsgLayers.PLACES: (3, 0),
    DsgLayers.MESH_PLACES: (3, 1),
    DsgLayers.ROOMS: (4, 0),
    DsgLayers.BUILDINGS: (5, 0),
}
_LABEL_SPACES = {"labelspace": "_l2p0", "room_labelspace": "_l4p0"}


class NodeSymbol(int):
    """Id of a node, a number: a letter in the highest byte, an index below."""

    def __new__(cls, value: int | str, index: int = 0) -> Self:
        """Return the id of a number, or of a letter and an index."""
        if isinstance(value, str):
            value = ord(value) << _INDEX_BITS | index
        return super().__new__(cls, value)

    @property
    def value(self) -> int:
        """The plain number."""
        return int(self)

    @property
    def category(self) -> str:
        """The letter."""
        return chr(self >> _INDEX_BITS)

    @property
    def category_id(self) -> int:
        """The index."""
        return self & ((1 << _INDEX_BITS) - 1)

    def __str__(self) -> str:
        """Return the symbol, such as ``O12``."""
        return f"{self.category}{self.category_id}"

    __repr__ = __str__


class BoundingBox:
    """A box along the axes; points are arrays of x, y, z in metres."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        """Take the box as the file has it."""
        self._data = data

    @property
    def world_P_center(self) -> np.ndarray:  # noqa: N802 - spark_dsg's name
        """The middle."""
        return _array(self._data["world_P_center"])

    @property
    def dimensions(self) -> np.ndarray:
        """The extents along x, y and z."""
        return _array(self._data["dimensions"])

    @property
    def min(self) -> np.ndarray:
        """The corner of the smallest coordinates."""
        return self.world_P_center - self.dimensions / 2

    @property
    def max(self) -> np.ndarray:
        """The corner of the largest coordinates."""
        return self.world_P_center + self.dimensions / 2

    def volume(self) -> float:
        """Return cubic metres."""
        return float(math.prod(self._data["dimensions"]))


class Attributes(SimpleNamespace):
    """What a node has: `name`, and what else is in the file, as `semantic_label` for its class."""

    @property
    def position(self) -> np.ndarray:
        """The array of x, y, z in metres."""
        return _array(self._position)

    @property
    def bounding_box(self) -> BoundingBox:
        """The box around the node."""
        return BoundingBox(self._box)


@dataclass(frozen=True, eq=False, slots=True)
class SceneGraphNode:
    """A node; the methods return ids."""

    id: NodeSymbol
    layer: str
    attributes: Attributes
    # Keys alone: each id once, in the order of the file.
    _parents: dict[NodeSymbol, None] = field(default_factory=dict)
    _children: dict[NodeSymbol, None] = field(default_factory=dict)
    _siblings: dict[NodeSymbol, None] = field(default_factory=dict)

    def parents(self) -> list[NodeSymbol]:
        """Return the nodes of higher layers that contain this one."""
        return [*self._parents]

    def children(self) -> list[NodeSymbol]:
        """Return the nodes of lower layers that this one contains."""
        return [*self._children]

    def siblings(self) -> list[NodeSymbol]:
        """Return the neighbours in its layer."""
        return [*self._siblings]

    def has_parent(self) -> bool:
        """Return whether anything contains this node."""
        return bool(self._parents)

    def get_parent(self) -> NodeSymbol | None:
        """Return the first of its parents, None if it has none."""
        return next(iter(self._parents), None)

    def __hash__(self) -> int:
        """Return the same in every run, so that sets of nodes have one order."""
        return hash(self.id)

    def __repr__(self) -> str:
        """Return the symbol."""
        return str(self.id)


@dataclass(frozen=True, slots=True)
class SceneGraphLayer:
    """A layer by its name, and its nodes in the order of the file."""

    name: str
    _nodes: dict[int, SceneGraphNode]

    @property
    def nodes(self) -> Iterator[SceneGraphNode]:
        """The nodes."""
        return iter(self._nodes.values())

    def num_nodes(self) -> int:
        """Return the number of nodes."""
        return len(self._nodes)

    def has_node(self, node: int) -> bool:
        """Return whether a node of this id is in the layer."""
        return int(node) in self._nodes

    def get_node(self, node: int) -> SceneGraphNode:
        """Return the node of this id; KeyError when it is elsewhere."""
        return self._nodes[int(node)]


class Metadata:
    """What the file says beside its nodes."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        """Take the file's metadata, and add names of classes by their numbers."""
        spaces = data.get("labelspaces") or {}
        self._data = {**data}
        for name, key in _LABEL_SPACES.items():
            space = spaces.get(key) or []
            pairs = space.items() if isinstance(space, Mapping) else space
            self._data[name] = {int(number): text for number, text in pairs}

    def get(self) -> dict[str, Any]:
        """Return all of it: `labelspace` and `room_labelspace` map `semantic_label` to a name."""
        return self._data


class DynamicSceneGraph:
    """A whole scene graph."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        """Take the parsed JSON of a file."""
        names = data.get("layer_names") or {}
        layers = {
            (names[name]["layer"], names[name].get("partition", 0)) if name in names else key: name
            for name, key in _LAYERS.items()
        }
        self.metadata = Metadata(data.get("metadata") or {})
        self._layers = {name: SceneGraphLayer(name, {}) for name in _LAYERS}
        self._nodes: dict[int, SceneGraphNode] = {}
        depths = {item["id"]: item["layer"] for item in data["nodes"]}
        for item in data["nodes"]:
            name = layers.get((item["layer"], item.get("partition", 0)))
            if name is not None:
                node = SceneGraphNode(NodeSymbol(item["id"]), name, _attributes(item["attributes"]))
                self._nodes[node.id.value] = self._layers[name]._nodes[node.id.value] = node  # noqa: SLF001 - made here
        for edge in data["edges"]:
            self._join(edge["source"], edge["target"], depths)

    @classmethod
    def load(cls, path: str | Path) -> DynamicSceneGraph:
        """Return the graph in a JSON file."""
        return cls(json.loads(Path(path).read_text("utf-8")))

    @property
    def layers(self) -> Iterator[SceneGraphLayer]:
        """The layers, from objects to buildings."""
        return iter(self._layers.values())

    @property
    def nodes(self) -> Iterator[SceneGraphNode]:
        """All nodes."""
        return iter(self._nodes.values())

    def get_layer(self, name: str) -> SceneGraphLayer:
        """Return a layer by its name in `DsgLayers`; KeyError when there is none."""
        return self._layers[name]

    def has_node(self, node: int) -> bool:
        """Return whether there is a node of this id."""
        return int(node) in self._nodes

    def get_node(self, node: int) -> SceneGraphNode:
        """Return the node of this id; KeyError when there is none."""
        return self._nodes[int(node)]

    def get_position(self, node: int) -> np.ndarray:
        """Return the position of a node."""
        return self.get_node(node).attributes.position

    def _join(self, source: int, target: int, depths: Mapping[int, int]) -> None:
        """Add an edge; one between two partitions of a layer is neither of the three relations."""
        one, other = self._nodes.get(source), self._nodes.get(target)
        if one is None or other is None:
            return
        if depths[source] < depths[target]:
            one, other = other, one
        if one.layer == other.layer:
            one._siblings[other.id] = other._siblings[one.id] = None  # noqa: SLF001 - made here
        elif depths[source] != depths[target]:
            one._children[other.id] = other._parents[one.id] = None  # noqa: SLF001 - made here


def _attributes(data: Mapping[str, Any]) -> Attributes:
    values = {"name": "", **data}
    position, box = values.pop("position"), values.pop("bounding_box", None)
    return Attributes(**values, _position=position, _box=box)


def _array(numbers: Sequence[float]) -> np.ndarray:
    """Return an array; numpy is loaded with the first, which takes longer than all the rest."""
    import numpy as np  # noqa: PLC0415 - as said

    return np.array(numbers, dtype=float)

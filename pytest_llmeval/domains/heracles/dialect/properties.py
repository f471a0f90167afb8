"""What a scene's properties hold: it tells which queries Neo4j would stop while they run."""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from pytest_llmeval.domains.heracles.scene_graph import SceneGraph

_NAMES: Final = {
    str: "String",
    int: "Integer",
    float: "Float",
    bool: "Boolean",
    tuple: "Point",
    list: "List",
}


def property_types(scene: SceneGraph) -> dict[str, str]:
    """Return the type of each property by its name, as Neo4j calls it; without those that hold several types."""
    found: dict[str, set[str]] = defaultdict(set)
    for node in scene.nodes:
        for name, value in node.properties.items():
            found[name].add(_NAMES.get(type(value), ""))
    return {
        name: next(iter(types))
        for name, types in found.items()
        if len(types) == 1 and "" not in types
    }

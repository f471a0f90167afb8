"""Small scenes made at random, with everything in them that trips careless questions."""

from __future__ import annotations

from random import Random
from typing import Any

from pytest_llmeval.domains.heracles.scene_graph import SceneGraph, scene_from_json

HOSTILE = (
    "chair",
    "Chair leg",
    "o'clock",
    'say "hi"',
    "back\\slash",
    "tick`tock",
    "}) DETACH DELETE n //",
    "a | b",
    "{{ 7 * 7 }} {% raw %}",
    "столик ü 椅子",
    "null",
    "12",
    "two\nlines",
    "\\u0027",
    "<set>",
    "",
)
"""Names of classes and things."""


def random_scene(seed: int) -> SceneGraph:
    """Return a scene; each seed leaves out, doubles or tangles something else."""
    dice = Random(seed)
    layers = {
        "O": ((2, 0), dice.choice([0, 1, 9, 25])),
        "p": ((3, 0), dice.choice([0, 3, 8])),
        "P": ((3, 1), dice.choice([0, 1, 12])),
        "R": ((4, 0), dice.choice([0, 1, 2, 6])),
        "B": ((5, 0), dice.choice([0, 1, 2])),
    }
    classes = dice.sample(HOSTILE, dice.randint(1, len(HOSTILE)))
    nodes = [
        _node(dice, letter, index, layer, classes)
        for letter, (layer, number) in layers.items()
        for index in range(number)
    ]
    return scene_from_json(
        {
            "nodes": nodes,
            "edges": _edges(dice, nodes),
            "metadata": {
                "labelspaces": {
                    "_l2p0": [*enumerate(classes)],
                    "_l4p0": [*enumerate(dice.sample(HOSTILE, 3))],
                }
            },
        }
    )


def _node(
    dice: Random, letter: str, index: int, layer: tuple[int, int], classes: list[str]
) -> dict[str, Any]:
    position = [round(dice.uniform(-9, 9), 2) for _ in "xyz"]
    if dice.random() < 0.2:
        position = [1.0, 1.0, 1.0]  # ties
    attributes: dict[str, Any] = {"position": position, "name": dice.choice(["", *HOSTILE])}
    if dice.random() < 0.9:
        attributes["semantic_label"] = index % (3 if letter == "R" else len(classes))
    if letter == "O":
        sides = [round(dice.uniform(0.1, 3), 1) for _ in "xyz"]
        attributes["bounding_box"] = {"dimensions": sides, "world_P_center": position}
    return {
        "id": (ord(letter) << 56) | index,
        "layer": layer[0],
        "partition": layer[1],
        "attributes": attributes,
    }


def _edges(dice: Random, nodes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return containments, some in several others, and neighbours that need not connect."""
    edges = []
    for below in nodes:
        above = [one for one in nodes if one["layer"] == below["layer"] + 1]
        parents = dice.sample(above, min(len(above), dice.choice([0, 1, 1, 1, 2])))
        edges += [(one, below) for one in parents]
        beside = [
            one
            for one in nodes
            if (one["layer"], one["partition"]) == (below["layer"], below["partition"])
        ]
        edges += [(below, one) for one in dice.sample(beside, min(len(beside), 2))]
    return [{"source": one["id"], "target": other["id"]} for one, other in edges]

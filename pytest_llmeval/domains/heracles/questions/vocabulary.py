"""How questions speak of a graph: plainly of any, naturally of a scene."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from pytest_llmeval.domains.heracles.questions.property_graph import PropertyGraph
from pytest_llmeval.domains.heracles.rows import SYMBOL
from pytest_llmeval.domains.heracles.scene_graph import CONNECTED, CONTAINS

Direction: TypeAlias = Literal["out", "in", "both"]
"""How a relationship is walked: along its direction, against it, or either way."""


@dataclass(frozen=True, kw_only=True)
class Verb:
    """What a relationship says of the node it is seen from: of one, and of several."""

    one: str
    many: str


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """Words for a graph; what it does not know is named as the schema has it.

    Attributes:
        nouns: label to the words for one node and for several.
        identifiers: property to the words for one value and for several.
        verbs: (type, direction, whether over several steps) to words.
        categories: property that tells of what kind a node is, also where no two nodes share a
            value, to the word for several values.
        measured: numeric property or component of a point to its words and unit ("metres"); if
            there are any, these alone are asked for.
        volumes: point property whose components are extents, to words and unit of their product.
        introduction: file of task_files/ that tells models of such graphs and the words in use.
        metres: whether lengths are in metres.
    """

    nouns: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    identifiers: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    verbs: Mapping[tuple[str, Direction, bool], Verb] = field(default_factory=dict)
    categories: Mapping[str, str] = field(default_factory=dict)
    measured: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    volumes: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    introduction: str = ""
    metres: bool = False

    def one(self, label: str) -> str:
        """Return the words for a node of a label."""
        return self.nouns[label][0] if label in self.nouns else f"{label} node"

    def many(self, label: str) -> str:
        """Return the words for several nodes of a label."""
        return self.nouns[label][1] if label in self.nouns else f"{label} nodes"

    def identifier(self, key: str) -> tuple[str, str]:
        """Return the words for a value that identifies a node, and for several."""
        return self.identifiers.get(key, (f"value of the property {key}", f"values of {key}"))

    def values(self, key: str) -> str:
        """Return the words for several values of a category."""
        return self.categories.get(key, f"values of {key}")

    def verb(self, type_: str, direction: Direction, *, deep: bool) -> Verb:
        """Return the words for being at one end of a relationship, or of a chain of them."""
        if (known := self.verbs.get((type_, direction, deep))) is not None:
            return known
        if deep:
            steps = f"over one or more {type_} relationships"
            if direction == "in":
                return Verb(one=f"is reached {steps} from", many=f"are reached {steps} from")
            return Verb(one=f"leads {steps} to", many=f"lead {steps} to")
        word = {"out": "to", "in": "from", "both": "with"}[direction]
        article = "an" if type_[0] in "AEIOUaeiou" else "a"
        linked = f"{article} {type_} relationship {word}"
        return Verb(one=f"has {linked}", many=f"have {linked}")

    def metre_words(self, *, geographic: bool) -> str:
        """Return the unit of distances, with a blank before it, as far as it is known."""
        return " metres" if self.metres or geographic else " units of the coordinates"


PLAIN = Vocabulary()
"""For graphs of which nothing is known but the schema."""

SCENE = Vocabulary(
    nouns={
        "Object": ("object", "objects"),
        "Place": ("place", "places"),
        "MeshPlace": ("mesh place", "mesh places"),
        "Room": ("room", "rooms"),
        "Building": ("building", "buildings"),
    },
    identifiers={SYMBOL: ("symbol", "symbols")},
    verbs={
        (CONTAINS, "out", False): Verb(one="directly contains", many="directly contain"),
        (CONTAINS, "in", False): Verb(
            one="is directly contained in", many="are directly contained in"
        ),
        (CONTAINS, "out", True): Verb(one="holds", many="hold"),
        (CONTAINS, "in", True): Verb(one="is in", many="are in"),
        **{
            (type_, "both", False): Verb(one="is adjacent to", many="are adjacent to")
            for type_ in CONNECTED.values()
        },
    },
    categories={"class": "classes"},
    measured={
        "center.z": ("height of the centre (its z coordinate)", "metres"),
        "bbox_dim.z": ("height of the bounding box (its extent along z)", "metres"),
    },
    volumes={"bbox_dim": ("volume of the bounding box (x times y times z)", "cubic metres")},
    introduction="scene.md",
    metres=True,
)
"""For scenes."""


def vocabulary_of(graph: PropertyGraph) -> Vocabulary:
    """Return the words for a graph: those for scenes if all its nodes are such as scenes have."""
    is_scene = all(
        {*vertex.labels} <= SCENE.nouns.keys() and SYMBOL in vertex.properties
        for vertex in graph.vertices
    )
    return SCENE if is_scene else PLAIN


def quoted(value: str | int) -> str:
    """Return a value inside a question: a string in double quotes, always on one line."""
    return json.dumps(value, ensure_ascii=False)

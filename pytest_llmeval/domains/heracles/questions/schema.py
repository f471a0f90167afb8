"""The schema of a graph, as far as questions are made from it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_llmeval.domains.heracles.questions.kind import Kind, kind_of
from pytest_llmeval.domains.heracles.questions.property_graph import PropertyGraph, Vertex
from pytest_llmeval.domains.heracles.questions.step import Step, steps_of
from pytest_llmeval.domains.heracles.questions.vocabulary import Vocabulary


@dataclass(frozen=True, kw_only=True)
class Schema:
    """The kinds of nodes and the steps between them, in a fixed order."""

    graph: PropertyGraph
    vocabulary: Vocabulary
    kinds: Mapping[str, Kind]
    steps: Sequence[Step]


def schema_of(graph: PropertyGraph, vocabulary: Vocabulary) -> Schema:
    """Return the schema; labels whose nodes nothing identifies are not in it."""
    by_label: dict[str, list[Vertex]] = defaultdict(list)
    for vertex in graph.vertices:
        for label in vertex.labels:
            by_label[label].append(vertex)
    kinds = {}
    for label in sorted(by_label):
        if (kind := kind_of(label, tuple(by_label[label]), vocabulary)) is not None:
            kinds[label] = kind
    steps = [
        step for type_ in sorted(graph.onward) for step in steps_of(graph, kinds, vocabulary, type_)
    ]
    return Schema(graph=graph, vocabulary=vocabulary, kinds=kinds, steps=steps)

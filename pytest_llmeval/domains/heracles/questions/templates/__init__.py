"""The templates, by kind of question.

A template is a function that draws a `Draft` from a `Subject`, or raises `UnfitError`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, TypeAlias

from pytest_llmeval.domains.heracles.questions.draft import Draft
from pytest_llmeval.domains.heracles.questions.subject import Subject
from pytest_llmeval.domains.heracles.questions.templates import (
    distances,
    joins,
    measures,
    paths,
    steps,
    values,
)

Template: TypeAlias = Callable[[Subject], Draft]

TEMPLATES: Final[Mapping[str, Sequence[Template]]] = MappingProxyType(
    {
        "counts": (values.nodes_of_a_value, values.nodes_of_a_label, values.distinct_values),
        "sets": (steps.neighbours, values.nodes_named, steps.values_of_neighbours),
        "hierarchy": (
            steps.nodes_below,
            steps.values_below,
            steps.holder,
            steps.holders,
            steps.nodes_in_nothing,
        ),
        "paths": (paths.hops, paths.only_path, paths.within_hops),
        "nearest": (
            distances.nearest,
            distances.by_distance,
            distances.within,
            distances.distance,
        ),
        "superlatives": (measures.extreme, steps.most_linked, values.commonest),
        "attributes": (values.value_of_a_node, distances.position, measures.measure_of_a_node),
        "comparisons": (measures.larger_of_two, values.difference, measures.above_a_limit),
        "joins": (joins.two_steps, joins.shared_values, joins.holding_both),
        "groups": (values.number_by_value, steps.number_by_node, distances.nearest_of_each),
        "aggregates": (measures.mean, measures.spread),
    }
)
"""Kind of question to its templates."""

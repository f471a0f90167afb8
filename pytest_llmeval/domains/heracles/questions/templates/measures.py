"""Questions about numbers of nodes: extremes, comparisons, means."""

from __future__ import annotations

import math

from pytest_llmeval.domains.heracles.questions import cypher_text
from pytest_llmeval.domains.heracles.questions.draft import (
    MOST_ELEMENTS,
    Draft,
    UnfitError,
    apart,
    limit_between,
    ranked,
)
from pytest_llmeval.domains.heracles.questions.kind import Kind
from pytest_llmeval.domains.heracles.questions.measure import Measure
from pytest_llmeval.domains.heracles.questions.subject import Group, Subject, identifier

_MOST_DIGITS = 1e6
"""Sums and means above it would hang on the last digits of an answer."""


def extreme(subject: Subject) -> Draft:
    """Return the question "Which node has the largest or smallest number?"."""
    group, measure = _measured(subject)
    largest = subject.dice.flip()
    (first,) = ranked(group.vertices, measure.value, descending=largest, first=1)
    word = "largest" if largest else "smallest"
    return Draft(
        name=f"{word.capitalize()} {measure.words} of {group.words}",
        question=(
            f"Which {group.one} has the {word} {measure.words}? "
            f"Give its {subject.name(group.kind)}."
        ),
        cypher=(
            f"MATCH {group.pattern('n')} RETURN {identifier(group.kind, 'n')} AS id "
            f"ORDER BY {measure.cypher.format('n')}{' DESC' if largest else ''} LIMIT 1"
        ),
        answer=group.kind.identity(first),
        tags=("superlative",),
    )


def measure_of_a_node(subject: Subject) -> Draft:
    """Return the question "What is a number of a node?"."""
    kind = subject.kind(_has_measures)
    node, measure = subject.something(kind), subject.measure(kind)
    return Draft(
        name=f"{measure.words.capitalize()} of {node.words}",
        question=f"What is the {measure.words} of {node.words}{_in(measure)}?",
        cypher=f"MATCH {node.pattern('n')} RETURN {measure.cypher.format('n')} AS value",
        answer=measure.value(node.vertex),
        tags=("attribute",),
    )


def larger_of_two(subject: Subject) -> Draft:
    """Return the question "Which of two nodes has the larger number?"."""
    kind = subject.kind(lambda one: one.measures and len(one.vertices) > 1)
    one, other, measure = subject.named(kind), subject.named(kind), subject.measure(kind)
    if one.vertex is other.vertex or not apart(
        measure.value(one.vertex), measure.value(other.vertex)
    ):
        msg = "a tie, or nearly one"
        raise UnfitError(msg)
    larger = max(one.vertex, other.vertex, key=measure.value)
    both = ", ".join(cypher_text.literal(kind.identity(two.vertex)) for two in (one, other))
    group = subject.all_of(kind)
    return Draft(
        name=f"{one.words} or {other.words}, by {measure.words}",
        question=(
            f"Which has the larger {measure.words}: {one.words} or {other.words}? "
            f"Give its {subject.name(kind)}."
        ),
        cypher=(
            f"MATCH {group.pattern('n')} WHERE {identifier(kind, 'n')} IN [{both}] "
            f"RETURN {identifier(kind, 'n')} AS id "
            f"ORDER BY {measure.cypher.format('n')} DESC LIMIT 1"
        ),
        answer=kind.identity(larger),
        tags=("comparison",),
    )


def above_a_limit(subject: Subject) -> Draft:
    """Return the question "How many nodes have a number above a limit?"."""
    group, measure = _measured(subject)
    values = [-measure.value(one) for one in group.vertices]
    limit = -limit_between(values, subject.dice, least=1, most=5 * MOST_ELEMENTS)
    return Draft(
        name=f"{group.words.capitalize()} with {measure.words} above {limit}",
        question=(
            f"For how many {group.words} is the {measure.words} greater than {limit}"
            f"{f' {measure.unit}' if measure.unit else ''}?"
        ),
        cypher=(
            f"MATCH {group.pattern('n')} WHERE {measure.cypher.format('n')} > {limit} "
            "RETURN count(n) AS number"
        ),
        answer=sum(measure.value(one) > limit for one in group.vertices),
        tags=("comparison", "count"),
    )


def mean(subject: Subject) -> Draft:
    """Return the question "What is the mean of a number?"."""
    group, measure = _measured(subject)
    values = [measure.value(one) for one in group.vertices]
    return Draft(
        name=f"Mean {measure.words} of {group.words}",
        question=f"What is the mean {measure.words} of all {group.words}{_in(measure)}?",
        cypher=f"MATCH {group.pattern('n')} RETURN avg({measure.cypher.format('n')}) AS mean",
        answer=_readable(math.fsum(values) / len(values)),
        tags=("aggregate",),
    )


def spread(subject: Subject) -> Draft:
    """Return the question "What is the difference of the largest and the smallest number?"."""
    group, measure = _measured(subject)
    values = [measure.value(one) for one in group.vertices]
    if not apart(max(values), min(values)):
        msg = "a tie, or nearly one"
        raise UnfitError(msg)
    number = measure.cypher.format("n")
    return Draft(
        name=f"Range of {measure.words} of {group.words}",
        question=(
            f"By how much does the largest {measure.words} among all {group.words} exceed the "
            f"smallest{_in(measure)}?"
        ),
        cypher=f"MATCH {group.pattern('n')} RETURN max({number}) - min({number}) AS range",
        answer=_readable(max(values) - min(values)),
        tags=("aggregate",),
    )


def _measured(subject: Subject) -> tuple[Group, Measure]:
    """Return several nodes and a number that all of them have."""
    kind = subject.kind(lambda one: one.measures and len(one.vertices) > 1)
    return subject.any_group(kind, lambda size: size > 1), subject.measure(kind)


def _in(measure: Measure) -> str:
    """Return the words for the unit of an answer."""
    return f", in {measure.unit}" if measure.unit else ""


def _has_measures(kind: Kind) -> object:
    return kind.measures


def _readable(value: float) -> float:
    """Return the value; UnfitError when rounded digits of it would decide."""
    if abs(value) > _MOST_DIGITS:
        msg = "a number of too many digits"
        raise UnfitError(msg)
    return float(value)

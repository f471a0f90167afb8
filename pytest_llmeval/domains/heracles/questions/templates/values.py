"""Questions about labels, and about values that several nodes share."""

from __future__ import annotations

from pytest_llmeval.domains.heracles.questions import cypher_text
from pytest_llmeval.domains.heracles.questions.draft import Draft, UnfitError, ranked
from pytest_llmeval.domains.heracles.questions.subject import (
    Category,
    Group,
    Subject,
    bounded,
    identifier,
)


def nodes_of_a_label(subject: Subject) -> Draft:
    """Return the question "How many nodes have a label?"."""
    return _number(subject.all_of(subject.kind(lambda one: len(one.vertices) > 1)))


def nodes_of_a_value(subject: Subject) -> Draft:
    """Return the question "How many nodes have a value?"."""
    return _number(subject.group(subject.category(), lambda size: size > 1))


def distinct_values(subject: Subject) -> Draft:
    """Return the question "How many values does a property have?"."""
    category = subject.category()
    group, values = subject.all_of(category.kind), _values(category)
    return Draft(
        name=f"Different values of {category.key} of {group.words}",
        question=(
            f"How many different {subject.values(category)} occur among all {group.words}?"
            f"{category.remark}"
        ),
        cypher=(
            f"MATCH {group.pattern('n')} WHERE {_known(category)} "
            f"RETURN count(DISTINCT {category.value('n')}) AS number"
        ),
        answer=len(values),
        tags=("count",),
    )


def nodes_named(subject: Subject) -> Draft:
    """Return the question "Which nodes have a value?"."""
    group = subject.group(subject.category(), lambda size: size > 1)
    bounded(len(group.vertices))
    return Draft(
        name=f"All {group.words}",
        question=(
            f"Which {group.words} are there? Give the set of their {subject.names(group.kind)}."
        ),
        cypher=f"MATCH {group.pattern('n')} RETURN {identifier(group.kind, 'n')} AS id",
        answer={group.kind.identity(one) for one in group.vertices},
        tags=("set",),
    )


def commonest(subject: Subject) -> Draft:
    """Return the question "Which value do most nodes share?"."""
    category = subject.category()
    group = subject.all_of(category.kind)
    sizes = {value: len(found) for value, found in category.kind.members(category.key).items()}
    (value,) = ranked(sizes, sizes.__getitem__, descending=True, first=1)
    return Draft(
        name=f"Commonest {category.key} of {group.words}",
        question=f"Which {category.key} do more {group.words} have than any other?"
        f"{category.remark}",
        cypher=(
            f"MATCH {group.pattern('n')} WHERE {_known(category)} "
            f"RETURN {category.value('n')} AS value, count(*) AS number "
            "ORDER BY number DESC LIMIT 1"
        ),
        answer=value,
        tags=("superlative", "count"),
    )


def value_of_a_node(subject: Subject) -> Draft:
    """Return the question "What value does a node have?"."""
    category = subject.category()
    vertices = [one for one in category.kind.vertices if one.properties.get(category.key)]
    node = subject.named(category.kind, vertices)
    return Draft(
        name=f"{category.key} of {node.words}",
        question=f"What is the {category.key} of {node.words}?",
        cypher=f"MATCH {node.pattern('n')} RETURN {category.value('n')} AS value",
        answer=str(node.vertex.properties[category.key]),
        tags=("attribute",),
    )


def difference(subject: Subject) -> Draft:
    """Return the question "How many more nodes of one value than of another are there?"."""
    category = subject.category()
    one = subject.group(category)
    other = subject.group(category, lambda size: size != len(one.vertices))
    more, less = sorted((one, other), key=lambda group: len(group.vertices), reverse=True)
    return Draft(
        name=f"{more.words} over {less.words}",
        question=f"How many more {more.words} than {less.words} are there?",
        cypher=(
            f"MATCH {more.pattern('a')} WITH count(a) AS more "
            f"MATCH {less.pattern('b')} WITH more, count(b) AS less "
            "RETURN more - less AS difference"
        ),
        answer=len(more.vertices) - len(less.vertices),
        tags=("comparison", "count"),
    )


def number_by_value(subject: Subject) -> Draft:
    """Return the question "How many nodes does each value have?"."""
    category = subject.category()
    group = subject.all_of(category.kind)
    sizes = {value: len(found) for value, found in category.kind.members(category.key).items()}
    bounded(len(sizes))
    if len(sizes) < 2:  # noqa: PLR2004 - a dictionary of one entry is no grouping
        msg = "fewer than two to choose from"
        raise UnfitError(msg)
    return Draft(
        name=f"{group.words} by {category.key}",
        question=(
            f"How many {group.words} are there of each {category.key}?{category.remark} "
            f"Give a dictionary from {category.key} to number."
        ),
        cypher=(
            f"MATCH {group.pattern('n')} WHERE {_known(category)} "
            f"RETURN {category.value('n')} AS value, count(n) AS number ORDER BY value"
        ),
        answer=sizes,
        tags=("dict", "count"),
    )


def _number(group: Group) -> Draft:
    """Return the question for the size of a group."""
    return Draft(
        name=f"Number of {group.words}",
        question=f"How many {group.words} are there in the graph?",
        cypher=f"MATCH {group.pattern('n')} RETURN count(n) AS number",
        answer=len(group.vertices),
        tags=("count",),
    )


def _values(category: Category) -> list[str]:
    return [*category.kind.members(category.key)]


def _known(category: Category) -> str:
    """Return the condition that a node has the property; `null <> ''` is not true either."""
    return f"{category.value('n')} <> {cypher_text.literal('')}"

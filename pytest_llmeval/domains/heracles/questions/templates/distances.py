"""Questions about positions and how far apart they are."""

from __future__ import annotations

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
from pytest_llmeval.domains.heracles.questions.property_graph import Vertex
from pytest_llmeval.domains.heracles.questions.subject import (
    Group,
    Named,
    Subject,
    bounded,
    identifier,
)

_LEAST_RANKED, _MOST_RANKED = 3, 8
_MOST_PAIRS = 20_000


def nearest(subject: Subject) -> Draft:
    """Return the question "Which node of a group is nearest to a node?"."""
    node = subject.something(_placed(subject))
    group = _group(subject, node)
    first = _nearest(group, node)
    return Draft(
        name=f"{group.one.capitalize()} nearest to {node.words}",
        question=(
            f"Which {group.one}{_but(group, node)} is nearest to {node.words}"
            f"{_measured(node, group)}? Give its {subject.name(group.kind)}."
        ),
        cypher=(
            f"{_both(node, group)} RETURN {identifier(group.kind, 'n')} AS id "
            f"ORDER BY {_distance(node, group)} LIMIT 1"
        ),
        answer=group.kind.identity(first),
        tags=("nearest", "distance"),
    )


def by_distance(subject: Subject) -> Draft:
    """Return the question "In which order, from near to far, do the nodes of a value lie?"."""
    node = subject.something(_placed(subject))
    kind = _placed(subject, like=node.group.kind)
    group = subject.group(
        subject.category(kind), lambda size: _LEAST_RANKED <= size <= _MOST_RANKED
    )
    order = ranked(_others(group, node), lambda one: _metres(node, group, one))
    return Draft(
        name=f"{group.words.capitalize()} by distance from {node.words}",
        question=(
            f"List the {group.words}{_but(group, node)} from the nearest to the farthest from "
            f"{node.words}{_measured(node, group)}. Give their {subject.names(kind)}."
        ),
        cypher=(
            f"{_both(node, group)} RETURN {identifier(kind, 'n')} AS id "
            f"ORDER BY {_distance(node, group)}"
        ),
        answer=[kind.identity(one) for one in order],
        tags=("nearest", "distance", "order"),
    )


def within(subject: Subject) -> Draft:
    """Return the question "Which nodes lie within a distance of a node?"."""
    node = subject.something(_placed(subject, flat=True))
    group = _group(subject, node)
    far = {one: _metres(node, group, one) for one in _others(group, node)}
    limit = limit_between(far.values(), subject.dice, least=1, most=MOST_ELEMENTS // 2)
    found = {group.kind.identity(one) for one, metres in far.items() if metres < limit}
    unit = subject.schema.vocabulary.metre_words(geographic=False)
    return Draft(
        name=f"{group.words.capitalize()} around {node.words}",
        question=(
            f"Which {group.words}{_but(group, node)} are less than {limit}{unit} away from "
            f"{node.words}{_measured(node, group)}? "
            f"Give the set of their {subject.names(group.kind)}."
        ),
        cypher=(
            f"{_both(node, group, f'{_distance(node, group)} < {limit}')} "
            f"RETURN {identifier(group.kind, 'n')} AS id"
        ),
        answer=found,
        tags=("nearest", "distance", "set"),
    )


def distance(subject: Subject) -> Draft:
    """Return the question "How far apart are two nodes?"."""
    node = subject.something(_placed(subject, flat=True))
    other = subject.named(_placed(subject, like=node.group.kind))
    metres = _metres(node, other.group, other.vertex)
    if other.vertex is node.vertex or not apart(metres, 0):
        msg = "no distance to speak of"
        raise UnfitError(msg)
    group, unit = other.group, subject.schema.vocabulary.metre_words(geographic=False)
    return Draft(
        name=f"Distance from {node.words} to {other.words}",
        question=(
            f"How many{unit} are {node.words} and {other.words} apart{_measured(node, group)}?"
        ),
        cypher=(
            f"MATCH {node.pattern('a')}, {group.pattern('n')} "
            f"RETURN {_distance(node, group)} AS distance"
        ),
        answer=metres,
        tags=("distance",),
    )


def position(subject: Subject) -> Draft:
    """Return the question "Where is a node?"."""
    three = 3
    kind = subject.kind(
        lambda one: (
            one.position
            and not one.geographic
            and len(one.place(one.vertices[0]).coordinates) == three
        )
    )
    node = subject.something(kind)
    return Draft(
        name=f"Position of {node.words}",
        question=f"What is the {kind.position} of {node.words}, a point with x, y and z?",
        cypher=f"MATCH {node.pattern('n')} RETURN n.{cypher_text.name(kind.position)} AS point",
        answer=kind.place(node.vertex),
        tags=("attribute", "position"),
    )


def nearest_of_each(subject: Subject) -> Draft:
    """Return the question "Which node of a group is nearest to each of another group?"."""
    kind = _placed(subject)
    ones = subject.group(subject.category(kind), lambda size: 1 < size <= _MOST_RANKED)
    group = subject.any_group(_placed(subject, like=kind), lambda size: size > 1)
    if ones.words == group.words or len(ones.vertices) * len(group.vertices) > _MOST_PAIRS:
        msg = "a group and itself, or too many pairs"
        raise UnfitError(msg)
    answer = {}
    for one in ones.vertices:
        node = Named(ones, one, "")
        first = _nearest(group, node)
        answer[kind.identity(one)] = group.kind.identity(first)
    bounded(len(answer))
    node = Named(ones, ones.vertices[0], "")
    itself = " other than itself" if group.kind is kind else ""
    return Draft(
        name=f"{group.one.capitalize()} nearest to each {ones.one}",
        question=(
            f"For each {ones.one}: which {group.one}{itself} is nearest to it"
            f"{_measured(node, group)}? Give a dictionary from {subject.name(kind)} to "
            f"{subject.name(group.kind)}."
        ),
        cypher=(
            f"{_both(node, group)} WITH a, n ORDER BY {_distance(node, group)} "
            f"WITH a, collect({identifier(group.kind, 'n')})[0] AS nearest "
            f"RETURN {identifier(kind, 'a')} AS id, nearest ORDER BY id"
        ),
        answer=answer,
        tags=("dict", "nearest", "distance"),
    )


def _placed(subject: Subject, *, like: Kind | None = None, flat: bool = False) -> Kind:
    """Return a kind with positions, of the same form as another's, or not on a sphere."""

    def form(kind: Kind) -> object:
        place = kind.place(kind.vertices[0])
        return place.geographic, len(place.coordinates)

    return subject.kind(
        lambda kind: (
            kind.position
            and len(kind.vertices) > 1
            and not (flat and kind.geographic)
            and (not kind.geographic or len(kind.place(kind.vertices[0]).coordinates) == len("xy"))
            and (like is None or form(kind) == form(like))
        )
    )


def _group(subject: Subject, node: Named) -> Group:
    """Return nodes to compare by their distance."""
    return subject.any_group(_placed(subject, like=node.group.kind), lambda size: size > 1)


def _others(group: Group, node: Named) -> list[Vertex]:
    return [one for one in group.vertices if one is not node.vertex]


def _nearest(group: Group, node: Named) -> Vertex:
    """Return the one of the group nearest to a node, itself left out."""
    return ranked(_others(group, node), lambda one: _metres(node, group, one), first=1)[0]


def _metres(node: Named, group: Group, other: Vertex) -> float:
    return node.group.kind.place(node.vertex).distance(group.kind.place(other))


def _but(group: Group, node: Named) -> str:
    """Return words that leave the node out, where it is one of the group."""
    return f" other than {node.words}" if node.vertex in group.vertices else ""


def _measured(node: Named, group: Group) -> str:
    """Return words for what the distance is between."""
    return f" (measured from {node.group.kind.position} to {group.kind.position})"


def _both(node: Named, group: Group, condition: str = "") -> str:
    """Return the clause that matches the node as `a` and the others as `n`."""
    conditions = [
        *(["n <> a"] if node.group.kind.label == group.kind.label else []),
        *([condition] if condition else []),
    ]
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return f"MATCH {node.pattern('a')}, {group.pattern('n')}{where}"


def _distance(node: Named, group: Group) -> str:
    return (
        f"point.distance(a.{cypher_text.name(node.group.kind.position)}, "
        f"n.{cypher_text.name(group.kind.position)})"
    )
